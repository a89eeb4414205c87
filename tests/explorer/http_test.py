#!/usr/bin/env python3
"""What `oneprobe explore` answers to requests: the tool's own plans, and one clear sentence where there is none."""

import http.client
import json
import pathlib
import select
import signal
import socket
import subprocess
import time
import unittest

from served import HANGS, TOOL, Explorer


def refuse_constant(text):
    raise AssertionError(f"{text} is not JSON")


class Requests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.explorer = Explorer().__enter__()
        cls.addClassCleanup(cls.explorer.__exit__)

    def ask(self, path, method="GET", headers=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.explorer.port, timeout=HANGS)
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        text = answer.read().decode("utf-8")
        connection.close()
        return answer, text

    def raw(self, request):
        with socket.create_connection(("127.0.0.1", self.explorer.port), timeout=HANGS) as connection:
            try:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it has closed already
            received = b""
            try:
                while block := connection.recv(65536):
                    received += block
            except OSError:
                pass
        return received

    def assert_refused(self, path, status, *words):
        answer, text = self.ask(path)
        self.assertEqual(answer.status, status, path)
        self.assertEqual(answer.getheader("Content-Type"), "application/json")
        found = json.loads(text)
        self.assertEqual(list(found), ["error"])
        for word in words:
            self.assertIn(word, found["error"])

    def test_plans_are_the_tools_to_the_byte(self):
        for path, call in (
            ("plan/filter?elements=1M&fpr=1e-3", "plan filter --elements 1M --fpr 1e-3"),
            ("plan/filter?elements=20k&bits-per-element=12&kind=standard",
             "plan filter --elements 20k --bits-per-element 12 --kind standard"),
            ("plan/table?elements=1M&choices=3&overflow=1e-4", "plan table --elements 1M --choices 3 --overflow 1e-4"),
            ("plan/table?elements=1M&load-factor=0.95", "plan table --elements 1M --load-factor 0.95"),
        ):
            with self.subTest(path):
                said = subprocess.run([TOOL, *call.split(), "--json"], capture_output=True, text=True).stdout
                answer, text = self.ask("/api/" + path)
                self.assertEqual((answer.status, text), (200, said))

    def test_the_program_is_the_tools(self):
        said = subprocess.run(
            [TOOL, *"plan table --elements 5k --cpp".split()], capture_output=True, text=True, check=True
        ).stdout
        answer, text = self.ask("/api/plan/table?elements=5k&cpp=")
        self.assertEqual((answer.status, text), (200, said))
        self.assertIn("#include <oneprobe/", text)

    def test_curves_have_every_kind_and_no_constants_that_json_lacks(self):
        _, text = self.ask("/api/frontier/filter?fpr=1e-4")
        found = json.loads(text, parse_constant=refuse_constant)
        self.assertEqual(
            [curve["kind"] for curve in found["curves"]],
            ["standard", "partitioned", "blocked", "counting", "balanced", "fingerprint"],
        )
        for curve in found["curves"]:
            known = [value for value in curve["fpr"] if value is not None]
            self.assertGreater(len(known), 5, curve["kind"])
            self.assertEqual(known, sorted(known, reverse=True), curve["kind"])
        asked = {curve["kind"]: curve["asked"] for curve in found["curves"]}
        # The textbook: 1.44 log2(10^4) bits of a standard filter. The grid is two bits wide.
        self.assertAlmostEqual(asked["standard"]["bits_per_element"], 19.17, delta=0.1)
        _, text = self.ask("/api/frontier/table?bucket-capacity=8&workload=fill-only")
        found = json.loads(text, parse_constant=refuse_constant)
        self.assertEqual([curve["choices"] for curve in found["curves"]], list(range(1, 9)))

    def test_a_picture_is_of_the_table_that_is_planned(self):
        _, text = self.ask("/api/picture/table?elements=1M")
        picture = json.loads(text, parse_constant=refuse_constant)
        plan = json.loads(self.ask("/api/plan/table?elements=1M")[1])
        self.assertEqual([level["buckets"] for level in picture["levels"]], plan["level_buckets"])
        for key in ("load_factor", "overflow_fraction", "hit_accesses", "miss_accesses", "insert_accesses"):
            self.assertEqual(picture[key], plan[key], key)
        slots = sum(
            level["buckets"] * sum(load * share for load, share in enumerate(level["loads"]))
            for level in picture["levels"]
        )
        self.assertAlmostEqual(slots / 1e6, 1, delta=0.001)
        over = picture["over_loads"]
        for overflow, bound in zip(over["overflow_fraction"], over["overflow_bound"]):
            if bound is not None:
                self.assertLessEqual(bound, 1.001 * overflow)

    def test_bad_parameters_get_one_sentence(self):
        for path, *words in (
            ("plan/filter", "--elements is missing"),
            ("plan/filter?elements=x", "--elements", "'x'"),
            ("plan/filter?elements=1M&fpr=2", "--fpr", "0.5"),
            ("plan/filter?elements=1M&elements=2M", "2 times"),
            ("plan/filter?elements=1M&colour=red", "unknown option '--colour'"),
            ("plan/filter?elements=1M&fpt=1e-3", "did you mean --fpr?"),
            ("plan/filter?elements=1M&fpr=1e-3&bytes=2", "not both"),
            ("plan/table?elements=1M&choices=99", "--choices", "99"),
            ("plan/table?elements=1M&json=", "unknown option"),
            ("frontier/filter?choices=7", "--choices must be one of 1, 2, 3"),
            ("frontier/filter?accesses=nan", "--accesses"),
            ("frontier/filter?fpr=0", "--fpr"),
            ("frontier/table?bucket-capacity=17", "1 to 16"),
            ("picture/table?elements=1M&scheme=d-left", "multilevel"),
        ):
            with self.subTest(path):
                self.assert_refused("/api/" + path, 400, *words)

    def test_hostile_paths_lead_nowhere(self):
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/api/", "/api/../index.html",
                     "/api/plan/", "/api/plan/summary", "/index.html%00.js", "/main.js/", "/.git/config"):
            with self.subTest(path):
                answer, text = self.ask(path)
                self.assertEqual(answer.status, 404)
                self.assertIn("error", json.loads(text))

    def test_only_reading_is_allowed(self):
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            answer, _ = self.ask("/api/plan/filter?elements=1M", method)
            self.assertEqual(answer.status, 404, method)
        answer, text = self.ask("/", "HEAD")
        self.assertEqual((answer.status, text), (200, ""))

    def test_requests_that_are_too_large_are_refused_and_the_server_lives_on(self):
        port = str(self.explorer.port).encode()
        host = b"Host: 127.0.0.1:" + port + b"\r\n"
        for request in (
            b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + host + b"\r\n",
            b"GET / HTTP/1.1\r\n" + host + b"X: " + b"a" * 100_000 + b"\r\n\r\n",
            b"POST / HTTP/1.1\r\n" + host + b"Content-Length: 99999999999\r\n\r\n" + b"a" * 10_000,
            b"\0\xff\x16\x03\x01" * 1000,
            b"GET\r\n\r\n",
        ):
            received = self.raw(request)
            self.assertNotIn(b" 200 ", received.split(b"\r\n")[0], request[:20])
        self.assertEqual(self.ask("/")[0].status, 200)

    def test_other_hosts_are_refused(self):
        port = self.explorer.port
        for host in ("example.com", f"example.com:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", f"127.0.0.1.example.com:{port}",
                     ""):
            answer, text = self.ask("/", headers={"Host": host})
            self.assertEqual(answer.status, 403, host)
            self.assertIn("error", json.loads(text))
        self.assertEqual(self.ask("/", headers={"Host": f"localhost:{port}"})[0].status, 200)

    def test_the_page_may_load_nothing_from_elsewhere(self):
        answer, text = self.ask("/")
        self.assertIn("default-src 'none'", answer.getheader("Content-Security-Policy"))
        self.assertEqual(answer.getheader("X-Content-Type-Options"), "nosniff")
        self.assertNotIn("//", text.replace("</", "").replace("http://www.w3.org", ""))

    def test_it_listens_on_this_machine_only(self):
        with open("/proc/net/tcp", encoding="ascii") as table:
            mine = [line.split()[1] for line in table if line.split()[3] == "0A" and f":{self.explorer.port:04X}" in line.split()[1]]
        self.assertEqual(mine, [f"0100007F:{self.explorer.port:04X}"])

    def test_the_licence_of_the_charts_comes_with_them(self):
        if "uPlot" not in self.ask("/uplot.js")[1]:
            self.skipTest("built without uPlot")
        self.assertIn("MIT License", self.ask("/uplot-licence.txt")[1])


class Beforehand(unittest.TestCase):
    def test_the_curves_of_every_control_are_made_before_they_are_asked_for(self):
        def works():
            """Whether any thread of the server runs, or would if the machine were idle."""
            for task in pathlib.Path(f"/proc/{explorer.process.pid}/task").iterdir():
                if (task / "stat").read_text().rpartition(")")[2].split()[0] == "R":
                    return True
            return False

        with Explorer() as explorer:
            idle = 0
            while idle < 20:
                explorer.hurry()
                self.assertLess(explorer.processor_seconds(), 120, "the server is still at work")
                idle = 0 if works() else idle + 1
                time.sleep(0.02)
            for workload in ("churn", "fill-only"):
                for slots in (4, 8, 16):
                    connection = http.client.HTTPConnection("127.0.0.1", explorer.port, timeout=HANGS)
                    begin = explorer.processor_seconds()
                    connection.request("GET", f"/api/frontier/table?workload={workload}&bucket-capacity={slots}")
                    answer = connection.getresponse()
                    answer.read()
                    self.assertEqual(answer.status, 200)
                    # To make one takes from 20 to 600 ms of a processor, to give it out a fifth of one.
                    self.assertLess(explorer.processor_seconds() - begin, 0.01, f"{workload}, {slots}")
                    connection.close()


    def test_curves_do_not_wait_for_plans(self):
        with Explorer() as explorer:
            plans = []
            for elements in (1, 2):
                plan = http.client.HTTPConnection("127.0.0.1", explorer.port, timeout=HANGS)
                self.addCleanup(plan.close)
                # Seconds of a processor for each.
                plan.request("GET", f"/api/plan/table?elements={elements}M&choices=8&workload=fill-only")
                plans.append(plan.sock)
            curves = http.client.HTTPConnection("127.0.0.1", explorer.port, timeout=HANGS)
            self.addCleanup(curves.close)
            curves.request("GET", "/api/frontier/filter?fpr=1e-4")
            answer = curves.getresponse()
            answered, _, _ = select.select(plans, [], [], 0)
            self.assertEqual((answer.status, answered), (200, []))


class Command(unittest.TestCase):
    def test_it_ends_quietly_on_either_signal(self):
        for how in (signal.SIGINT, signal.SIGTERM):
            with Explorer() as explorer:
                self.assertEqual(explorer.stop(how), 0)
                self.assertEqual(explorer.process.stderr.read(), "")

    def test_a_port_can_be_chosen_and_a_taken_one_is_refused(self):
        with Explorer() as first:
            second = subprocess.run([TOOL, "explore", "--port", str(first.port)], capture_output=True, text=True, timeout=HANGS)
        self.assertEqual((second.returncode, second.stdout), (3, ""))
        self.assertIn(f"--port {first.port} cannot be listened on", second.stderr)
        self.assertEqual(second.stderr.count("\n"), 1)

    def test_nonsense_is_refused_in_one_line(self):
        for arguments in (["--port", "70000"], ["--port", "x"], ["--json"], ["word"]):
            done = subprocess.run([TOOL, "explore", *arguments], capture_output=True, text=True, timeout=HANGS)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), arguments)

    def test_help_has_an_example(self):
        done = subprocess.run([TOOL, "explore", "--help"], capture_output=True, text=True, check=True)
        self.assertIn("oneprobe explore --port", done.stdout)
        self.assertNotIn("--json", done.stdout)


if __name__ == "__main__":
    unittest.main()
