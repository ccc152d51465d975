"""A relay to a server, which kills a program at one byte. `serve relay` runs this file, with the folder in FOLDER.

The file `target` has the server's port. The file `cut` has where the next connection ends, as "up N" or "down N": behind N bytes to the
server or N bytes from it. Then the relay kills the process whose number is in the file `device`, and closes the connection. If the last
of N bytes ends a request, the relay waits for the answer first, and passes on nothing of it.

`seen` has a line "CONNECTION up N" or "CONNECTION down N" for each place where a cut differs from the one before: behind the head of a
message with a body, behind each 256 KiB of that body, and behind a request. And it has a line "CONNECTION METHOD PATH" for each request.
"""
import os, pathlib, re, select, signal, socket, threading

TARGET, CUT, DEVICE, SEEN = (pathlib.Path(FOLDER, name) for name in ("target", "cut", "device", "seen"))
CHUNK = 256 << 10


class Way:
    """The bytes in one direction of a connection."""

    def __init__(self, number, name):
        self.number, self.name, self.head, self.count, self.body, self.left = number, name, b"", 0, 0, 0
        self.wanted = None

    def note(self, what):
        with open(SEEN, "a") as seen:
            seen.write(f"{self.number} {what}\n")

    def step(self):
        # Behind an answer a program goes on, so a cut there has no place of its own.
        if self.name == "up" or self.left:
            self.note(f"{self.name} {self.count}")

    @property
    def is_between(self):
        return not self.head and not self.left

    def feed(self, data):
        at = 0
        while at < len(data):
            if self.left:
                some = min(self.left, CHUNK - self.body % CHUNK, len(data) - at)
                self.left, self.body, self.count, at = self.left - some, self.body + some, self.count + some, at + some
                if self.left == 0 or self.body % CHUNK == 0:
                    self.step()
            else:
                self.head, self.count, at = self.head + data[at:at + 1], self.count + 1, at + 1
                if self.head.endswith(b"\r\n\r\n"):
                    length = re.search(rb"\r\ncontent-length: *([0-9]+)\r\n", self.head.lower())
                    assert b"\r\ntransfer-encoding:" not in self.head.lower()
                    if self.name == "up":
                        self.note(" ".join(self.head.decode().split(" ")[:2]))
                    self.left, self.body, self.head = int(length[1]) if length else 0, 0, b""
                    self.step()


def serve(number, program):
    up, down = Way(number, "up"), Way(number, "down")
    try:
        name, at = CUT.read_text().split()
        {"up": up, "down": down}[name].wanted = int(at)
        CUT.unlink()
    except FileNotFoundError:
        pass
    with program, socket.create_connection(("127.0.0.1", int(TARGET.read_text()))) as server:
        while True:
            for side in select.select([program, server], [], [])[0]:
                way, other = (up, server) if side is program else (down, program)
                data = side.recv(1 << 16)
                if not data:
                    return
                if way.wanted is not None:
                    data = data[:way.wanted - way.count]
                # Noted before the other side can act on it.
                way.feed(data)
                other.sendall(data)
                if way.count == way.wanted:
                    if way is up and up.is_between:
                        server.recv(1)
                    os.kill(int(DEVICE.read_text()), signal.SIGKILL)
                    return


def accept():
    for number in range(1, 1 << 30):
        threading.Thread(target=serve, args=(number, listener.accept()[0]), daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=accept, daemon=True).start()
print(f"relay=http://127.0.0.1:{listener.getsockname()[1]}\ntarget={TARGET}\ncut={CUT}\ndevice={DEVICE}\nseen={SEEN}")
print("ready", flush=True)
threading.Event().wait()
