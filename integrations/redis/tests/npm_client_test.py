"""Runs npm_client.mjs with npm's `redis`, which is installed into the build folder the first time."""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from servers import PATIENCE, Cluster, Server

FOLDER = Path(os.environ["ONEPROBE_REDIS_NPM_FOLDER"])
INSTALL = Path(__file__).parents[3] / "tools" / "install_npm.py"


class NpmClient(unittest.TestCase):
    def test_every_bloom_command(self):
        node = shutil.which("node")
        self.assertTrue(node, "node is missing: Debian's packages nodejs and npm")
        # Version 6 wants a newer node than Debian 12 has; 5 has the same commands.
        major = int(subprocess.check_output([node, "--version"], text=True).lstrip("v").split(".")[0])
        versions = Path(__file__).parent / "npm" / ("redis-6" if major >= 20 else "redis-5")
        done = subprocess.run([sys.executable, str(INSTALL), str(versions), str(FOLDER)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=2 * PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout)
        server = cluster = None
        try:
            server, cluster = Server(), Cluster(masters=3, replicas=0)
            script = Path(__file__).with_name("npm_client.mjs")
            done = subprocess.run(
                [node, str(script), str(FOLDER), str(server.port), str(cluster.servers[0].port)],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn("every command answered", done.stdout)
        finally:
            for each in (server, cluster):
                if each:
                    each.end()


if __name__ == "__main__":
    unittest.main()
