#!/usr/bin/env python3
"""Records what the Redis module does, on real servers of this machine, as JSON for docs/redis.md.

usage: record_redis.py BUILD rates|promise|cluster [-o FILE] [--keys N]

BUILD has redis/oneprobe.so and the tool. `rates` sets adds and exists beside Redis's own SETBIT and GETBIT, all in one
pipeline; `promise` measures error and memory at a million items; `cluster` builds a filter over three masters with
three replicas, asks it, adds a node, moves slots during queries and kills a master.
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


def rate_of(client, commands):
    """Requests per second; what is sent was made before."""
    pipeline = b"".join(client.encode(words) for words in commands)
    replies = 4 * len(commands)  # each is ":0" or ":1"
    begin = time.monotonic()
    sender = threading.Thread(target=client.socket.sendall, args=(pipeline,))
    sender.start()
    while replies > 0:
        replies -= len(client.socket.recv(1 << 16))
    sender.join()
    return len(commands) / (time.monotonic() - begin)


def rates(servers, _tool, asked):
    """Rounds of all commands one after the other, by one client, and the median of their ratios."""
    requests, rounds = asked.keys or 500_000, 5
    draw = random.Random(20081)
    measured = {name: [] for name in ("SETBIT", "BF.ADD", "GETBIT", "BF.EXISTS")}
    server = servers.Server()
    try:
        with server.client() as client:
            for _ in range(rounds):
                items = [str(draw.randrange(requests)) for _ in range(requests)]
                client.call("FLUSHALL")
                client.call("BF.RESERVE", "seen", "0.001", requests)
                measured["SETBIT"].append(rate_of(client, [("SETBIT", "bits", item, "1") for item in items]))
                measured["BF.ADD"].append(rate_of(client, [("BF.ADD", "seen", item) for item in items]))
                measured["GETBIT"].append(rate_of(client, [("GETBIT", "bits", item) for item in items]))
                measured["BF.EXISTS"].append(rate_of(client, [("BF.EXISTS", "seen", item) for item in items]))
    finally:
        server.end()

    def ratio(ours, theirs):
        return statistics.median(a / b for a, b in zip(measured[ours], measured[theirs]))

    return {"requests": requests, "requests_per_second": measured,
            "add_to_setbit": ratio("BF.ADD", "SETBIT"), "exists_to_getbit": ratio("BF.EXISTS", "GETBIT")}


def run_tool(tool, *words):
    done = subprocess.run([tool, "redis", *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == 2:
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


def cluster(servers, tool, asked):
    keys, shards, fpr = asked.keys or 10_000_000, 12, 1e-3
    cluster_of = servers.Cluster(3, 3)
    try:
        with tempfile.TemporaryDirectory() as folder:
            files = key_files(folder, keys)

            def query(name):
                begin = time.monotonic()
                answer = run_tool(tool, "query", files[name], "--nodes", cluster_of.nodes(), "--name", "seen")
                return {**answer, "seconds": time.monotonic() - begin}

            record = {"keys": keys, "shards": shards, "fpr": fpr}
            record["build"] = run_tool(tool, "build", files["present"], "--nodes", cluster_of.nodes(), "--name", "seen",
                                       "--shards", str(shards), "--fpr", str(fpr), "--replicas", "1")
            record["present"], record["absent"] = query("present"), query("absent")

            fourth = servers.Server(*servers.Cluster.OPTIONS)
            masters = cluster_of.masters()
            cluster_of.servers.append(fourth)
            subprocess.run([servers.CLI, "--cluster", "add-node", f"127.0.0.1:{fourth.port}",
                            f"127.0.0.1:{masters[0].port}"], stdout=subprocess.DEVNULL, check=True)
            servers.eventually("all know the fourth", lambda: all(
                b"cluster_known_nodes:7" in server.client().call("CLUSTER", "INFO") for server in cluster_of.alive()))
            during = []
            asking = threading.Thread(target=lambda: during.append(query("present")))
            asking.start()
            for master in masters:
                ids = [server.client().call("CLUSTER", "MYID").decode() for server in (master, fourth)]
                subprocess.run([servers.CLI, "--cluster", "reshard", f"127.0.0.1:{master.port}", "--cluster-from", ids[0],
                                "--cluster-to", ids[1], "--cluster-slots", "1365", "--cluster-yes", "--cluster-timeout",
                                "60000"], stdout=subprocess.DEVNULL, check=True)
            asking.join()
            record["present_while_slots_moved"] = during[0]
            with fourth.client() as client:
                record["keys_on_the_new_node"] = client.call("DBSIZE")
            masters[0].process.kill()
            masters[0].process.wait()
            servers.eventually("a replica has taken over", cluster_of.is_whole)
            record["present_after_failover"], record["absent_after_failover"] = query("present"), query("absent")
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
