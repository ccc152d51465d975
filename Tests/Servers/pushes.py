#!/usr/bin/env python3
"""Devices that push to two servers with one database, for tests. A push is a pack and then its head, both signed, over
HTTP. It counts as acknowledged when the head gets its 204.

usage: Tests/Servers/pushes.py PROGRAM URL FOLDER: starts two `PROGRAM serve` with the store at URL and their files below
FOLDER, and makes a remote for each of 8 devices. Half of them push to the first server, the others to the second one. Then
it prints "ready". It ends the servers when its standard input ends. These lines on standard input are answered with
"KEY=VALUE" lines and then "ready":

  push N     each device may push N times more. It stops when it has, or at a refusal, and goes on with the same push at the
             next `push`. If its server was killed, it goes on at the other one at once
  state      devices: how many there are; stopped: how many of them wait for the next `push`; least: the acknowledged pushes
             of the device that has the fewest
  wait N     the same, once each device has N acknowledged pushes or has stopped
  kill       kills the first server
  read       reads each remote over HTTP, when all devices have stopped. lost: acknowledged pushes behind the newest head that
             is there; heads and packs: how many of the listed heads and of their packs are there as they were pushed; damaged:
             how many of them, and of the beginnings of the rolls, are not
"""
import pathlib, signal, struct, sys, threading

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Benchmarks" / "load"))
import clients, programs, remotes

DEVICES = 8
ACCOUNT = "ana"
PACKS = 167  # where the packs of a head begin that names no other device


class Device(threading.Thread):
    """A device with its connection. Threads of their own: each waits for its answer alone."""

    change = threading.Condition()  # of any device

    def __init__(self, servers, index, token):
        super().__init__(daemon=True)
        self.servers, self.index, self.token, self.sock = servers, index, token, None
        self.remote = remotes.Remote(ACCOUNT)
        self.acknowledged, self.allowed, self.is_stopped = 0, 0, True

    def ask(self, request):
        """The status and the body, from its server or, if that one is gone, from the other one."""
        while True:
            try:
                if self.sock is None:
                    self.sock = clients.connect(self.servers[self.index].port)
                status, answer = clients.ask(self.sock, request)
                return status, answer.partition(b"\r\n\r\n")[2]
            except OSError:
                self.sock = None
                if not self.servers[self.index].is_gone:
                    return 0, b""
                self.index = 1 - self.index

    def found(self):
        status, body = self.ask(remotes.request(b"PUT", self.remote.path + b"/remote", self.token, self.remote.founding))
        if status != 201:
            raise RuntimeError(f"a remote was answered with {status}: {body}")

    def allow(self, count):
        with self.change:
            self.allowed, self.is_stopped = self.acknowledged + count, False
            self.change.notify_all()

    def run(self):
        while True:
            with self.change:
                while self.is_stopped:
                    self.change.wait()
            is_refused = not self.push()
            with self.change:
                self.acknowledged += not is_refused
                self.is_stopped = is_refused or self.acknowledged >= self.allowed
                self.change.notify_all()

    def push(self):
        for request in self.remote.next_push(self.token):
            status, _ = self.ask(request)
            if status != 204:
                return False
        self.remote.pushed()
        return True

    # MARK: - What is there

    def get(self, path):
        status, body = self.ask(remotes.request(b"GET", self.remote.path + path, self.token))
        if status not in (200, 404):
            raise RuntimeError(f"{path} was answered with {status}: {body}")
        return body if status == 200 else None

    def read(self):
        """The number of the newest head that is there, how many heads and packs are, and how many files are not as they were."""
        wire, device = remotes.wire, b"/%08x" % self.remote.device.number
        listed = self.get(b"/files")
        if listed is None:
            return 0, 0, 0, 0
        # Entry 0 of the roll, which the list does not have.
        damaged = int(self.get(b"/remote") != self.remote.founding)
        newest, heads, packs = 0, 0, 0
        numbers = {digest: number for number, digest in self.remote.digests.items()}
        for is_second, digest in heads_of(listed):
            body = self.get(device + (b"/head.1" if is_second else b"/head"))
            number = numbers.get(digest)
            if body is None or wire.digest(body) != digest or number is None:
                damaged += 1
                continue
            newest, heads = max(newest, number), heads + 1
            for number, digest in packs_of(body):
                pack = self.get(device + b"/%016x.pack" % number)
                if pack is None or wire.digest(pack) != digest:
                    damaged += 1
                else:
                    packs += 1
        return newest, heads, packs, damaged


def heads_of(listed):
    """Of each head in a list: whether it is the file `head.1`, and its digest."""
    kinds, at = {1: ">I32s", 2: ">IB32s", 4: ">IQ"}, 13
    for _ in range(struct.unpack_from(">I", listed, 9)[0]):
        fields = struct.unpack_from(kinds[listed[at]], listed, at + 1)
        if listed[at] == 2:
            yield fields[1:]
        at += 1 + struct.calcsize(kinds[listed[at]])


def packs_of(head):
    count = struct.unpack_from(">H", head, PACKS)[0]
    return [struct.unpack_from(">Q32s", head, PACKS + 2 + 40 * index) for index in range(count)]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    program, url, folder = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    servers = []
    try:
        servers.append(programs.Server(program, f"{folder}/first", url, [ACCOUNT]))
        servers.append(servers[0].another(f"{folder}/second"))
        token = servers[0].log_in(ACCOUNT)
        devices = [Device(servers, index % len(servers), token) for index in range(DEVICES)]
        for device in devices:
            device.found()
            device.start()
        print("ready", flush=True)
        for line in sys.stdin:
            for key, value in answer(line.split(), servers, devices):
                print(f"{key}={value}")
            print("ready", flush=True)
    finally:
        for server in servers:
            server.end()


def answer(words, servers, devices):
    if words[0] == "push":
        for device in devices:
            device.allow(int(words[1]))
    elif words[0] == "kill":
        servers[0].is_gone = True
        servers[0].process.kill()
        servers[0].process.wait()
    elif words[0] in ("state", "wait"):
        with Device.change:
            if words[0] == "wait":
                Device.change.wait_for(lambda: all(one.is_stopped or one.acknowledged >= int(words[1]) for one in devices))
            counts = [device.acknowledged for device in devices]
            yield from [("devices", len(devices)), ("stopped", sum(device.is_stopped for device in devices))]
            yield "least", min(counts)
    elif words[0] == "read":
        newest, heads, packs, damaged = zip(*[device.read() for device in devices])
        yield "lost", sum(max(0, device.acknowledged - number) for device, number in zip(devices, newest))
        yield from [("heads", sum(heads)), ("packs", sum(packs)), ("damaged", sum(damaged))]


if __name__ == "__main__":
    main()
