"""How long the slowest commands hold the server up: milliseconds of its main thread. docs/redis.md has the figures.

usage: ONEPROBE_REDIS_MODULE=build/redis/oneprobe.so measure_slowest.py [--items N] [--module PATH] [--words OP]

Another module of the same commands is measured in the same way: `--module redisbloom.so`.
"""

import argparse
import time
from pathlib import Path

from servers import MODULE, Server

BATCH = 1000


def thread_ms(server):
    pid = server.process.pid
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e6


def cost(server, client, *words):
    before = thread_ms(server)
    client.call(*words)
    return thread_ms(server) - before


def reservations(server, client, words):
    worst = 0
    for capacity in (100, 100_000, 1_000_000, 100_000_000, 2**30):
        for error in ("0.25", "0.01", "0.001", "1e-6", "1e-9"):
            worst = max(worst, cost(server, client, f"{words}.RESERVE", "k", error, capacity))
            client.call("DEL", "k")
    return worst


def growth(server, client, words, items):
    """The slowest of the additions by which a filter grows, and of a thousand behind each."""
    client.call(f"{words}.RESERVE", "k", "0.001", "100000")
    worst, sent = 0, 0
    while client.call(f"{words}.CARD", "k") < items:
        capacity = client.call(f"{words}.INFO", "k", "CAPACITY")[0]
        while (room := capacity - client.call(f"{words}.CARD", "k")) > BATCH:
            batches = min(20, room // BATCH)
            starts = range(sent, sent + batches * BATCH, BATCH)
            client.pipeline([(f"{words}.MADD", "k", *map(str, range(start, start + BATCH))) for start in starts])
            sent += batches * BATCH
        for _ in range(2 * BATCH):
            worst = max(worst, cost(server, client, f"{words}.ADD", "k", str(sent)))
            sent += 1
    return worst


def loading(server, client, words, filters=450):
    client.call("FLUSHALL")
    for number in range(filters):
        client.call(f"{words}.RESERVE", f"k {number}", "0.001", 100_000 + number)
        client.call(f"{words}.ADD", f"k {number}", "item")
    return cost(server, client, "DEBUG", "LOADAOF")


def main():
    reader = argparse.ArgumentParser()
    reader.add_argument("--items", type=int, default=50_000_000)
    reader.add_argument("--module", default=MODULE)
    reader.add_argument("--words", default="BF", help="what the names of its commands begin with")
    asked = reader.parse_args()
    server = Server("--appendonly", "yes", "--appendfsync", "no", "--aof-use-rdb-preamble", "no", module=asked.module)
    try:
        with server.client() as client:
            worst = reservations(server, client, asked.words)
            print(f"slowest RESERVE, up to 2^30 items at 1e-9: {worst:.2f} ms", flush=True)
            print(f"450 filters of 100,000 items from the AOF: {loading(server, client, asked.words):.2f} ms", flush=True)
            began = time.monotonic()
            worst = growth(server, client, asked.words, asked.items)
            print(f"slowest ADD, from 100,000 to {asked.items:,} items: {worst:.2f} ms ({time.monotonic() - began:.0f} s)")
    finally:
        server.end()


if __name__ == "__main__":
    main()
