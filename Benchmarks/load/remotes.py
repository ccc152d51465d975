"""Remotes with one device each, and the pushes of these devices. docs/formats/sync.md has the bytes."""
import collections, os, pathlib, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "Golden" / "sync"))
import bytes as wire

TYPE = b"application/vnd.omvault.sync"
HOST = b"host: 127.0.0.1\r\n"
JOINED = 8  # so many packs of one size become one
MOST_PARCELS = 512


def request(method, path, token=None, body=None, *fields):
    head = method + b" " + path + b" HTTP/1.1\r\n" + HOST
    if token:
        head += b"authorization: Bearer " + token + b"\r\n"
    if body is not None:
        head += b"content-type: " + TYPE + b"\r\ncontent-length: %d\r\n" % len(body)
    return head + b"".join(field + b"\r\n" for field in fields) + b"\r\n" + (body or b"")


class Remote:
    """A remote of an account. Its one device pushes one edit at a time."""

    def __init__(self, account):
        self.account, self.vault, self.incarnation = account, os.urandom(16), os.urandom(16)
        self.device = wire.Device(self.vault, 0x41, "bench")
        self.key = wire.Ed25519PrivateKey.from_private_bytes(self.device.head)
        lanes = {1: [os.urandom(32)], 2: [os.urandom(32), os.urandom(32), os.urandom(32)]}
        wraps = [wire.wrap(self.vault, 0, self.device, kind, 1, b"".join(lanes[3 - kind]), os.urandom(32), os.urandom(24))
                 for kind in (1, 2)]
        member = wire.member_bytes(self.vault, os.urandom(32), self.device, os.urandom(24))
        self.founding = wire.entry(self.vault, 1, 0, bytes(32), self.device, int(time.time()), 1, [member], [], wraps)
        self.entry = wire.digest(self.founding)
        self.path = b"/v1/sync/" + f"{self.vault.hex()}-{self.incarnation.hex()}".encode()
        self.digests, self.listed, self.number = {0: bytes(32)}, [], 0
        self.ready = collections.deque()  # pushes that the server does not have yet
        self.tag = b'"1"'

    def parcel(self, size=512):
        """A parcel as long as that of an item with three fields. The server cannot open it, and neither can this script."""
        header = b"\1\1" + os.urandom(16) + wire.u32(1) + os.urandom(16 + 32)
        return header + os.urandom(40 + size)

    def pack(self, parcels, size=512):
        self.number += 1
        return wire.pack(self.vault, self.device, self.number, [self.parcel(size) for _ in range(parcels)])

    def push(self, packed=None):
        """Prepares the next push: a pack with the edited item, and the head that lists it. As a real device, it joins 8
        packs of one size into one, which also has the new parcel."""
        parcels = 1
        while len(self.listed) >= JOINED - 1 and all(size == parcels for size, *_ in self.listed[1 - JOINED:]):
            if parcels * JOINED > MOST_PARCELS:
                del self.listed[:]
                break
            del self.listed[1 - JOINED:]
            parcels *= JOINED
        packed = packed or self.pack(parcels)
        self.listed.append((parcels, self.number, wire.digest(packed)))
        n = len(self.digests)
        out = wire.u8(1) + self.vault + self.incarnation + wire.u32(self.device.number) + wire.u64(n)
        out += self.digests[n - 1] + self.digests[n & n - 1] + wire.u32(1) + wire.u32(0) + self.entry
        out += wire.u64(n) + wire.u64(int(time.time())) + wire.u16(0) + wire.u16(len(self.listed))
        out += b"".join(wire.u64(number) + digest for _, number, digest in sorted(self.listed, key=lambda one: one[1]))
        head = out + self.key.sign(wire.context("omv/sync/head", self.vault) + out)
        self.digests[n] = wire.digest(head)
        device = b"/%08x/" % self.device.number
        paths = self.path + device + b"%016x.pack" % self.number, self.path + device + (b"head" if n % 2 else b"head.1")
        self.ready.append(tuple(zip(paths, (packed, head))))

    def next_push(self, token):
        """The two requests of the next push, which stays the next one until `pushed`."""
        if not self.ready:
            self.push()
        return [request(b"PUT", path, token, body) for path, body in self.ready[0]]

    def pushed(self):
        # The founding and each push raise the number of the list by 1.
        self.tag = b'"%d"' % (int(self.tag[1:-1]) + 1)
        return self.ready.popleft()

    def look(self, token):
        return request(b"GET", self.path + b"/files", token, None, b"if-none-match: " + self.tag)
