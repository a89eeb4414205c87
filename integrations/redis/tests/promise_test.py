"""The stated error at a million items, measured, in less memory than a standard Bloom filter of that error."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from servers import PATIENCE, Server

TOOL = os.environ["ONEPROBE_CLI"]
ITEMS = 1_000_000


class Promise(unittest.TestCase):
    def test_error_and_memory(self):
        server = Server()
        try:
            with tempfile.TemporaryDirectory() as folder, server.client(3) as client:
                files = {}
                for name in ("present", "absent"):
                    files[name] = Path(folder) / name
                    files[name].write_text("".join(f"{name} {i}\n" for i in range(ITEMS)))
                for stated, bits in ((1e-2, 9.6), (1e-3, 14.4), (1e-4, 19.2)):
                    common = ["--nodes", f"127.0.0.1:{server.port}", "--name", "seen", "--json"]
                    subprocess.run([TOOL, "redis", "build", str(files["present"]), "--shards", "1", "--fpr", str(stated),
                                    *common], stdout=subprocess.DEVNULL, timeout=PATIENCE, check=True)
                    asked = subprocess.run([TOOL, "redis", "query", str(files["absent"]), *common],
                                           stdout=subprocess.PIPE, timeout=PATIENCE, check=False)
                    wrong = json.loads(asked.stdout)["may_contain"] / ITEMS
                    info = client.call("OP.INFO", "seen{0}")
                    # The seed is a random one: five deviations, or one run in some 10,000 would fail.
                    now = info["Current error"]
                    self.assertAlmostEqual(wrong, now, delta=0.02 * now + 5 * (now / ITEMS) ** 0.5)
                    self.assertLessEqual(wrong, stated + 5 * (stated / ITEMS) ** 0.5)
                    self.assertLess(info["Size"] * 8 / ITEMS, bits)
                    self.assertEqual(info["Number of filters"], 1)
                    self.assertLessEqual(info["Predicted error"], stated)
                    self.assertLessEqual(info["Current error"], stated)
                    client.call("FLUSHALL")
        finally:
            server.end()


if __name__ == "__main__":
    unittest.main()
