"""How long the slowest commands hold the server up: milliseconds of its main thread. docs/redis.md has the figures.

usage: ONEPROBE_REDIS_MODULE=build/redis/oneprobe.so measure_slowest.py [items, 50000000 if not given]
"""

import sys
import time
from pathlib import Path

from servers import Server

BATCH = 1000


def thread_ms(server):
    pid = server.process.pid
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e6


def cost(server, client, *words):
    before = thread_ms(server)
    client.call(*words)
    return thread_ms(server) - before


def reservations(server, client):
    worst = 0
    for capacity in (100, 100_000, 1_000_000, 100_000_000, 2**30):
        for error in ("0.25", "0.01", "0.001", "1e-6", "1e-9"):
            worst = max(worst, cost(server, client, "BF.RESERVE", "k", error, capacity))
            client.call("DEL", "k")
    return worst


def growth(server, client, items):
    """The slowest of the additions by which a filter grows, and of a thousand behind each."""
    client.call("BF.RESERVE", "k", "0.001", "100000")
    worst, sent = 0, 0
    while client.call("BF.CARD", "k") < items:
        capacity = client.call("BF.INFO", "k", "CAPACITY")[0]
        while (room := capacity - client.call("BF.CARD", "k")) > BATCH:
            batches = min(20, room // BATCH)
            client.pipeline([("BF.MADD", "k", *map(str, range(sent + i * BATCH, sent + (i + 1) * BATCH))) for i in range(batches)])
            sent += batches * BATCH
        for _ in range(2 * BATCH):
            worst = max(worst, cost(server, client, "BF.ADD", "k", str(sent)))
            sent += 1
    return worst


def loading(server, client, filters=450):
    client.call("FLUSHALL")
    for number in range(filters):
        client.call("BF.RESERVE", f"k {number}", "0.001", 100_000 + number)
        client.call("BF.ADD", f"k {number}", "item")
    return cost(server, client, "DEBUG", "LOADAOF")


def main():
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000_000
    server = Server("--appendonly", "yes", "--appendfsync", "no", "--aof-use-rdb-preamble", "no")
    try:
        with server.client() as client:
            print(f"slowest RESERVE, up to 2^30 items at 1e-9: {reservations(server, client):.2f} ms", flush=True)
            print(f"450 filters of 100,000 items from the AOF: {loading(server, client):.2f} ms", flush=True)
            began = time.monotonic()
            print(f"slowest ADD, from 100,000 to {items:,} items: {growth(server, client, items):.2f} ms "
                  f"({time.monotonic() - began:.0f} s)")
    finally:
        server.end()


if __name__ == "__main__":
    main()
