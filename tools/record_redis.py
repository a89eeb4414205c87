#!/usr/bin/env python3
"""Records what the Redis module does, on real servers of this machine, as JSON for docs/redis.md.

usage: record_redis.py BUILD rates|promise|cluster [-o FILE] [--keys N]

BUILD has redis/oneprobe.so and the tool. `rates` sets adds and exists beside Redis's own SETBIT and GETBIT, in pipelines
that follow each other closely; `promise` measures error and memory at a million items; `cluster` builds a filter over three
masters with three replicas, asks it, adds a master with a replica, moves slots and kills a master, all while keys are asked
for and added, and asks for everything that was acknowledged.
"""

import argparse
import json
import math
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def machine():
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    server = subprocess.check_output(["redis-server", "--version"], text=True).split()[2].removeprefix("v=")
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE, text=True,
                            check=False).stdout.strip()
    return {"cpu": model, "cores": os.cpu_count(), "redis": server, "commit": commit}


def timed(server, client, commands):
    """Seconds of one pipeline, by the clock and of the server's own time; what is sent was made before."""
    pipeline = b"".join(client.encode(words) for words in commands)
    replies = 4 * len(commands)  # each is ":0" or ":1"

    def server_seconds():
        return int(Path(f"/proc/{server.process.pid}/schedstat").read_text().split()[0]) / 1e9

    begin, begin_of_server = time.monotonic(), server_seconds()
    sender = threading.Thread(target=client.socket.sendall, args=(pipeline,))
    sender.start()
    while replies > 0:
        replies -= len(client.socket.recv(1 << 16))
    sender.join()
    return time.monotonic() - begin, server_seconds() - begin_of_server


def rates(servers, _tool, asked):
    """The commands take turns, a tenth of the requests at a time, so that whatever else the machine does meets all of them.

    A round ends when a filter and a bitmap are full; ratios are medians over the turns.
    """
    requests, rounds, turns = asked.keys or 500_000, 5, 10
    draw = random.Random(20081)
    names = ("SETBIT", "BF.ADD", "GETBIT", "BF.EXISTS")
    measured = {name: [] for name in names}
    server_ns = {name: [] for name in names}
    server = servers.Server()
    try:
        with server.client() as client:
            for _ in range(rounds):
                client.call("FLUSHALL")
                client.call("BF.RESERVE", "seen", "0.001", requests)
                client.call("SETBIT", "bits", requests, "1")
                for _ in range(turns):
                    items = [str(draw.randrange(requests)) for _ in range(requests // turns)]
                    for name in names:
                        key, more = ("bits", ("1",) if name == "SETBIT" else ()) if "BIT" in name else ("seen", ())
                        seconds, of_server = timed(server, client, [(name, key, item, *more) for item in items])
                        measured[name].append(len(items) / seconds)
                        server_ns[name].append(of_server / len(items) * 1e9)
    finally:
        server.end()

    def ratio(ours, theirs):
        return statistics.median(a / b for a, b in zip(measured[ours], measured[theirs]))

    return {"requests": requests, "requests_per_second": measured, "server_nanoseconds": server_ns,
            "add_to_setbit": ratio("BF.ADD", "SETBIT"), "exists_to_setbit": ratio("BF.EXISTS", "SETBIT"),
            "exists_to_getbit": ratio("BF.EXISTS", "GETBIT")}


def run_tool(tool, *words):
    done = subprocess.run([tool, "redis", *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode >= 2:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def key_files(folder, keys, absent_for_each=1):
    files = {}
    for name in ("present", "absent"):
        files[name] = str(Path(folder) / name)
        with open(files[name], "w") as out:
            for i in range(keys * (absent_for_each if name == "absent" else 1)):
                out.write(f"{name} {i}\n")
    return files


def promise(servers, tool, asked):
    rows = []
    server = servers.Server()
    try:
        with tempfile.TemporaryDirectory() as folder, server.client(3) as client:
            files = key_files(folder, asked.keys or 1_000_000, 10)
            for stated in (1e-2, 1e-3, 1e-4):
                where = ["--nodes", f"127.0.0.1:{server.port}", "--name", "seen"]
                built = run_tool(tool, "build", files["present"], *where, "--shards", "1", "--fpr", str(stated))
                absent = run_tool(tool, "query", files["absent"], *where)
                info = client.call("OP.INFO", "seen{0}")
                rows.append({"stated": stated, "keys": built["keys"], "asked": absent["keys"], "wrong": absent["may_contain"],
                             "measured": absent["may_contain"] / absent["keys"], "predicted": info["Predicted error"],
                             "bits_per_item": info["Size"] * 8 / built["keys"],
                             "standard_bloom_bits": -math.log(stated) / math.log(2) ** 2,
                             "counted_bits_per_item": info["Memory"] * 8 / built["keys"]})
                client.call("FLUSHALL")
    finally:
        server.end()
    return {"rows": rows}


def summed(answers):
    """Answers of several queries as one."""
    return {field: sum(answer[field] for answer in answers) for field in ("keys", "may_contain", "surely_not", "seconds")}


def cluster(servers, tool, asked):
    keys, shards, fpr = asked.keys or 10_000_000, 12, 1e-3
    cluster_of = servers.Cluster(3, 3)
    try:
        with tempfile.TemporaryDirectory() as folder:
            files = key_files(folder, keys)

            def query(path):
                begin = time.monotonic()
                answer = run_tool(tool, "query", path, "--nodes", cluster_of.nodes(), "--name", "seen")
                return {**answer, "seconds": time.monotonic() - begin}

            def error():
                facts = cluster_of.facts("seen").values()
                return sum(shard["Current error"] for shard in facts) / len(facts)

            record = {"keys": keys, "shards": shards, "fpr": fpr}
            record["build"] = run_tool(tool, "build", files["present"], "--nodes", cluster_of.nodes(), "--name", "seen",
                                       "--shards", str(shards), "--fpr", str(fpr), "--replicas", "1")
            record["present"], record["absent"] = query(files["present"]), query(files["absent"])
            record["expected_error"] = error()

            masters = cluster_of.masters()
            fourth = cluster_of.add()
            cluster_of.add(follows=fourth)
            writer = servers.Writer(tool, cluster_of, "seen", folder, max(500, keys // 1000))
            moved, during = threading.Event(), []

            def ask_until_moved():
                while not moved.is_set():
                    during.append(query(files["present"]))

            asking = threading.Thread(target=ask_until_moved)
            writer.start()
            asking.start()
            try:
                begin = time.monotonic()
                for master in masters:
                    cluster_of.move_slots(master, fourth, 1365)
                record["seconds_of_moving"] = time.monotonic() - begin
                moved.set()
                asking.join()
                record["present_while_slots_moved"] = {**summed(during), "queries": len(during)}
                with fourth.client() as client:
                    record["keys_on_the_new_node"] = client.call("DBSIZE")
                record["batches_before_the_kill"] = len(writer.acknowledged)
                masters[0].process.kill()
                masters[0].process.wait()
                servers.eventually("a replica has taken over", lambda: cluster_of.is_whole()
                                   and len(cluster_of.masters()) == 4)
                masters[0].restart()
                writer.goes_on("keys are added after the failover")
            finally:
                moved.set()
                asking.join()
                writer.ended.set()
                writer.join()
            record["batches"] = len(writer.acknowledged)
            record["acknowledged_after_failover"] = query(str(writer.finish()))
            record["present_after_failover"] = query(files["present"])
            record["absent_after_failover"] = query(files["absent"])
            record["expected_error_after_failover"] = error()
            return record
    finally:
        cluster_of.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("what", choices=["rates", "promise", "cluster"])
    parser.add_argument("-o", dest="output", type=Path)
    parser.add_argument("--keys", type=int)
    asked = parser.parse_args()
    os.environ["ONEPROBE_REDIS_MODULE"] = str(asked.build.resolve() / "redis" / "oneprobe.so")
    sys.path.insert(0, str(ROOT / "integrations" / "redis" / "tests"))
    import servers  # pylint: disable=import-outside-toplevel
    record = {"machine": machine()}
    record.update({"rates": rates, "promise": promise, "cluster": cluster}[asked.what](
        servers, str(asked.build.resolve() / "oneprobe"), asked))
    text = json.dumps(record, indent=2) + "\n"
    if asked.output:
        asked.output.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
