"""Real Redis servers with the module, on free ports of this machine; all of them end with the test."""

import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

MODULE = os.environ["ONEPROBE_REDIS_MODULE"]
SERVER = os.environ.get("ONEPROBE_REDIS_SERVER") or shutil.which("redis-server") or "/usr/bin/redis-server"
CLI = os.environ.get("ONEPROBE_REDIS_CLI") or shutil.which("redis-cli") or "/usr/bin/redis-cli"
PATIENCE = 120  # seconds until something that must happen counts as not happening
BUS = 10000  # the cluster's own port is so far from the clients' port


def eventually(what, condition, patience=PATIENCE):
    """The first true result of condition(); connection errors count as false."""
    end = time.monotonic() + patience
    last = None
    while time.monotonic() < end:
        try:
            result = condition()
            if result:
                return result
        except (OSError, EOFError, RespError) as error:
            last = error
        time.sleep(0.05)
    raise AssertionError(f"did not happen within {patience} s: {what} ({last})")


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def free_port():
    for _ in range(1000):
        port = random.randrange(20000, 32000)
        try:
            for each in (port, port + BUS):
                with socket.socket() as trial:
                    trial.bind(("127.0.0.1", each))
            return port
        except OSError:
            continue
    raise AssertionError("no free port")


class RespError(Exception):
    """An error that the server replied."""


class Client:
    """Sends words, gives back what came: str-like bytes, int, bool, float, list, dict, None or RespError."""

    def __init__(self, port, resp=2):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.file = self.socket.makefile("rb")
        if resp == 3:
            self.call("HELLO", "3")

    def close(self):
        self.file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @staticmethod
    def encode(words):
        out = [b"*%d\r\n" % len(words)]
        for word in words:
            if isinstance(word, (int, float)):
                word = repr(word)
            if isinstance(word, str):
                word = word.encode()
            out.append(b"$%d\r\n%s\r\n" % (len(word), word))
        return b"".join(out)

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError("the server hung up")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return RespError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b",":
            return float(rest)
        if kind == b"_":
            return None
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind in b"*~>":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        if kind == b"%":
            return {self.read(): self.read() for _ in range(int(rest))}
        raise AssertionError(f"unknown reply {line!r}")

    def ask(self, *words):
        """The reply, also if it is an error."""
        self.socket.sendall(self.encode(words))
        return self.read()

    def call(self, *words):
        """The reply; an error is raised."""
        reply = self.ask(*words)
        if isinstance(reply, RespError):
            raise reply
        return reply

    def pipeline(self, commands):
        self.socket.sendall(b"".join(self.encode(words) for words in commands))
        return [self.read() for _ in commands]


class Server:
    """One server; its folder stays when it is started again."""

    def __init__(self, *options, module=MODULE, module_options=()):
        self.module = module
        self.options = options
        self.module_options = module_options
        self.folder = tempfile.mkdtemp(prefix="oneprobe-redis-")
        self.process = None
        self.port = None
        self.start()

    def start(self, port=None):
        for _ in range(20):
            self.port = port or free_port()
            command = [
                SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder, "--save", "",
                "--enable-debug-command", "local", *self.options, "--loadmodule", self.module,
                *self.module_options,
            ]
            self.log = open(Path(self.folder) / "log", "ab")
            self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, preexec_fn=die_with_parent)
            if self.answers():
                return self
            self.log.close()
        raise AssertionError("redis-server does not start:\n" + self.log_text()[-2000:])

    def answers(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with Client(self.port) as client:
                    if client.ask("PING") == "PONG" and str(self.process.pid) in client.ask("INFO", "server").decode():
                        return True
            except (OSError, EOFError):
                pass
            time.sleep(0.05)
        return False

    def log_text(self):
        return (Path(self.folder) / "log").read_text(errors="replace")

    def processor_seconds(self):
        """What all of its threads took of the processors: that does not grow with what else runs."""
        return time.clock_gettime(~self.process.pid << 3 | 2)  # as clock_getcpuclockid(3) has it on Linux

    def client(self, resp=2):
        return Client(self.port, resp)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()

    def restart(self):
        """On the same port, with what it left in its folder."""
        self.kill()
        return self.start(self.port)

    def end(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def refused_start(*module_options):
    """What a server logs that does not start with these options of the module."""
    for _ in range(20):
        with tempfile.TemporaryDirectory(prefix="oneprobe-redis-") as folder:
            done = subprocess.run([SERVER, "--port", str(free_port()), "--bind", "127.0.0.1", "--dir", folder, "--save", "",
                                   "--loadmodule", MODULE, *module_options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=PATIENCE, preexec_fn=die_with_parent)
        if done.returncode == 0:
            raise AssertionError(f"the server started and ended, with {module_options}")
        if "Failed listening on port" not in done.stdout:  # another was faster
            return done.stdout
    raise AssertionError("redis-server finds no port:\n" + done.stdout)


def write_aof(folder, *files):
    """The AOF of a server of that folder: commands, the first file as it was rewritten if there are two."""
    folder = Path(folder) / "appendonlydir"
    folder.mkdir(exist_ok=True)
    kinds = "i" if len(files) == 1 else "bi"
    lines = []
    for number, (kind, content) in enumerate(zip(kinds, files), 1):
        name = f"appendonly.aof.{number}." + ("incr" if kind == "i" else "base") + ".aof"
        (folder / name).write_bytes(content)
        lines.append(f"file {name} seq {number} type {kind}\n")
    (folder / "appendonly.aof.manifest").write_text("".join(lines))


def aof_of(server, kind):
    """The newest file of the AOF: `incr`, of commands, or `base`, which was rewritten."""
    found = (Path(server.folder) / "appendonlydir").glob(f"*.{kind}.aof")
    return max(found, key=lambda path: int(path.name.split(".")[2])).read_bytes()


def commands_in(content):
    """The commands of an AOF, each a list of its words."""
    commands = []
    at = 0

    def number(kind):
        nonlocal at
        end = content.index(b"\r\n", at)
        if content[at:at + 1] != kind:
            raise AssertionError(f"no command at {at}")
        found, at = int(content[at + 1:end]), end + 2
        return found

    while at < len(content):
        words = []
        for _ in range(number(b"*")):
            size = number(b"$")
            words.append(content[at:at + size])
            at += size + 2
        commands.append(words)
    return commands


def rewrite_aof(client):
    client.call("BGREWRITEAOF")
    wait_for_aof(client)


def wait_for_aof(client):
    eventually("the AOF is rewritten", lambda: b"aof_rewrite_in_progress:0" in client.call("INFO", "persistence")
               and b"aof_rewrite_scheduled:0" in client.call("INFO", "persistence"))


class Primary(threading.Thread):
    """What a replica takes for its primary: one without keys, or with those of an RDB file, which then sends these commands."""

    EMPTY = b"REDIS0010\xff" + bytes(8)  # an RDB file without a checksum

    def __init__(self, commands, keys=EMPTY):
        super().__init__(daemon=True)
        self.commands = commands
        self.keys = keys
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.ended = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.listener.close()
        self.join()

    def run(self):
        self.listener.settimeout(PATIENCE)
        try:
            connection, _ = self.listener.accept()
            with connection:
                connection.settimeout(PATIENCE)
                self.serve(connection)
        except OSError:
            pass

    def serve(self, connection):
        received = b""
        while True:
            received += connection.recv(4096)
            if b"PSYNC" in received:
                break
            if received.endswith(b"\r\n"):
                connection.sendall(b"+PONG\r\n" if b"PING" in received else b"+OK\r\n" * received.upper().count(b"REPLCONF"))
                received = b""
        connection.sendall(b"+FULLRESYNC " + b"0" * 40 + b" 0\r\n$%d\r\n" % len(self.keys) + self.keys + self.commands)
        self.ended.wait(PATIENCE)


class Cluster:
    """Masters and as many replicas, made by redis-cli."""

    OPTIONS = ("--cluster-enabled", "yes", "--cluster-node-timeout", "3000", "--appendonly", "no")

    def __init__(self, masters=3, replicas=3):
        self.servers = []
        try:
            self.servers = [Server(*self.OPTIONS) for _ in range(masters + replicas)]
            addresses = [f"127.0.0.1:{server.port}" for server in self.servers]
            made = subprocess.run(
                [CLI, "--cluster", "create", *addresses, "--cluster-replicas", str(replicas // masters), "--cluster-yes"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
            if made.returncode != 0:
                raise AssertionError("no cluster was made:\n" + made.stdout)
            eventually("every node knows the cluster", self.is_whole)
            eventually("every replica is in step", self.replicas_follow)
        except BaseException:
            self.end()
            raise

    def alive(self):
        return [server for server in self.servers if server.process.poll() is None]

    def nodes(self):
        return ",".join(f"127.0.0.1:{server.port}" for server in self.alive())

    def is_whole(self):
        for server in self.alive():
            with server.client() as client:
                if b"cluster_state:ok" not in client.call("CLUSTER", "INFO"):
                    return False
        return True

    def replicas_follow(self):
        for server in self.alive():
            with server.client() as client:
                role = client.call("ROLE")
                if role[0] == b"slave" and role[3] != b"connected":
                    return False
        return True

    def masters(self):
        found = []
        for server in self.alive():
            with server.client() as client:
                if client.call("ROLE")[0] == b"master":
                    found.append(server)
        return found

    def id_of(self, server):
        with server.client() as client:
            return client.call("CLUSTER", "MYID").decode()

    def redis_cli(self, *words, patience=PATIENCE):
        done = subprocess.run([CLI, "--cluster", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=patience)
        if done.returncode != 0:
            raise AssertionError(f"redis-cli --cluster {' '.join(words)}:\n{done.stdout[-2000:]}")
        return done.stdout

    def add(self, follows=None):
        """One more server: a master without slots, or a replica of one."""
        server = Server(*self.OPTIONS)
        known = self.masters()[0]
        self.servers.append(server)
        role = [] if follows is None else ["--cluster-slave", "--cluster-master-id", self.id_of(follows)]
        self.redis_cli("add-node", f"127.0.0.1:{server.port}", f"127.0.0.1:{known.port}", *role)
        eventually("all know the new node", self.all_are_known)
        if follows is not None:
            eventually("the new node is a replica", lambda: server not in self.masters() and self.replicas_follow())
        return server

    def all_are_known(self):
        alive = self.alive()
        for server in alive:
            with server.client() as client:
                if f"cluster_known_nodes:{len(alive)}".encode() not in client.call("CLUSTER", "INFO"):
                    return False
        return self.is_whole()

    def nodes_agree(self):
        """What redis-cli asks for before it moves anything. The nodes tell each other by and by."""
        done = subprocess.run([CLI, "--cluster", "check", f"127.0.0.1:{self.masters()[0].port}"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
        return done.returncode == 0 and "All nodes agree about slots configuration" in done.stdout

    def move_slots(self, source, target, slots):
        eventually("all nodes agree about the slots", self.nodes_agree)
        self.redis_cli("reshard", f"127.0.0.1:{source.port}", "--cluster-from", self.id_of(source), "--cluster-to",
                       self.id_of(target), "--cluster-slots", str(slots), "--cluster-yes", "--cluster-timeout", "60000",
                       patience=5 * PATIENCE)

    def facts(self, name):
        """What OP.INFO says of each shard of a filter over this cluster, by its key."""
        found = {}
        for server in self.masters():
            with server.client(3) as client:
                for key in client.call("KEYS", name + "{*"):
                    found[key] = client.call("OP.INFO", key)
        return found

    def end(self):
        for server in self.servers:
            server.end()


class Writer(threading.Thread):
    """Adds keys to a filter over a cluster, batch after batch, by the tool, which waits for one replica of each (WAIT 1).

    The files in `acknowledged` have the keys that the tool said are kept.
    """

    def __init__(self, tool, cluster, name, folder, batch):
        super().__init__()
        self.tool, self.cluster, self.name_of_filter = tool, cluster, name
        self.folder, self.batch = Path(folder), batch
        self.acknowledged, self.faults = [], []
        self.ended = threading.Event()

    def run(self):
        number = 0
        while not self.ended.is_set():
            path = self.folder / f"batch {number}"
            path.write_text("".join(f"batch {number} {i}\n" for i in range(self.batch)))
            done = subprocess.run(
                [self.tool, "redis", "build", str(path), "--nodes", self.cluster.nodes(), "--name", self.name_of_filter,
                 "--add", "--replicas", "1", "--json", "--timeout", str(PATIENCE)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=5 * PATIENCE)
            if done.returncode != 0:
                self.faults.append(done.stderr)
                return
            self.acknowledged.append(path)
            number += 1
            self.ended.wait(0.05)

    def goes_on(self, what, batches=2):
        """Waits until so many more are acknowledged."""
        wanted = len(self.acknowledged) + batches
        eventually(what, lambda: self.faults or len(self.acknowledged) >= wanted, 3 * PATIENCE)

    def finish(self):
        """One file with all the keys that were acknowledged."""
        self.ended.set()
        self.join()
        if self.faults:
            raise AssertionError(self.faults[0])
        every = self.folder / "acknowledged"
        every.write_text("".join(path.read_text() for path in self.acknowledged))
        return every
