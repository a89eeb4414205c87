"""`oneprobe explore` under test: started on a free port, ended as Ctrl-C ends it."""

import os
import re
import signal
import subprocess

TOOL = os.environ["ONEPROBE_CLI"]


class Explorer:
    def __enter__(self):
        self.process = subprocess.Popen([TOOL, "explore"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", self.address)
        if not found:
            self.process.kill()
            raise AssertionError(f"no address but {self.address!r}")
        self.port = int(found[1])
        return self

    def stop(self, how=signal.SIGINT):
        self.process.send_signal(how)
        return self.process.wait(timeout=20)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop(signal.SIGKILL)
        self.process.stdout.close()
        self.process.stderr.close()
