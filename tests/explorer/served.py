"""`oneprobe explore` under test: started on a free port, ended as Ctrl-C ends it."""

import contextlib
import os
import re
import signal
import subprocess
import time

TOOL = os.environ["ONEPROBE_CLI"]
# Seconds after which something counts as hanging, however much else runs on the machine.
HANGS = 300


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

    def processor_seconds(self):
        """What all of its threads took of the processors: that does not grow with what else runs."""
        return time.clock_gettime(~self.process.pid << 3 | 2)  # as clock_getcpuclockid(3) has it on Linux

    def hurry(self):
        """What it does in the background steps back for everybody, for minutes on a busy machine. Not if we may say so."""
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            with contextlib.suppress(PermissionError, ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, int(thread), 0)

    def stop(self, how=signal.SIGINT):
        self.process.send_signal(how)
        return self.process.wait(timeout=HANGS)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop(signal.SIGKILL)
        self.process.stdout.close()
        self.process.stderr.close()
