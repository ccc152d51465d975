"""Slow and idle connections, and what another client sees of them."""
import pathlib, socket, time

import clients, rates, remotes

IDLE, SLOW, DEAF = 10_000, 100, 200  # slow: so many heads, and so many bodies
OF_ADDRESS = 200  # connections of one address: the server takes 256
SECONDS = 330  # the server gives a request and an answer 300


def sources():
    """An address of this machine for each connection, so that the server's limit of one address holds."""
    number = 0
    while True:
        yield f"127.0.{1 + number // OF_ADDRESS // 250}.{1 + number // OF_ADDRESS % 250}"
        number += 1


def open_ports(port):
    """The clients' ports of the server's open connections."""
    found = set()
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "01" and int(words[1].rpartition(":")[2], 16) == port:
            found.add((words[2].rpartition(":")[0], int(words[2].rpartition(":")[2], 16)))
    return found


def name(sock):
    address, port = sock.getsockname()
    return f"{int.from_bytes(socket.inet_aton(address), 'little'):08X}", port


def crowd(server, token, large, send):
    """Opens all connections, says so, and sends a byte a second on the slow ones. Gives after how many seconds
    the server closed each of them."""
    source, kinds = sources(), {"head": [], "body": [], "deaf": [], "idle": []}
    opened = {}
    head = remotes.request(b"GET", b"/v1/sync", None, None, b"x-slow: " + b"a" * 2000)
    body = remotes.request(b"POST", b"/oauth2/token", None, b"a" * 2000)
    body = body.replace(remotes.TYPE, b"application/x-www-form-urlencoded")
    for kind, count in (("head", SLOW), ("body", SLOW), ("deaf", DEAF), ("idle", IDLE)):
        for _ in range(count):
            made = socket.socket()
            if kind == "deaf":
                made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            made.bind((next(source), 0))
            made.connect(("127.0.0.1", server.port))
            if kind == "deaf":
                made.sendall(remotes.request(b"GET", large, token))
            elif kind == "idle":
                clients.ask(made, remotes.request(b"GET", b"/v1/sync"))
            elif kind == "body":
                made.sendall(body[:-2000])
            made.setblocking(False)
            kinds[kind].append(made)
            opened[name(made)] = time.monotonic()
    begin, present = time.monotonic(), open_ports(server.port)
    left = {kind: {name(one) for one in some} & present for kind, some in kinds.items()}
    closed = {kind: [] for kind in kinds}
    send({kind: len(some) for kind, some in left.items()})
    sent = 0
    while any(left.values()) and time.monotonic() < begin + SECONDS:
        for kind, text in (("head", head), ("body", body[-2000:])):
            for one in kinds[kind]:
                try:
                    one.send(text[sent:sent + 1])
                except OSError:
                    pass
        sent += 1
        time.sleep(max(0, begin + sent - time.monotonic()))
        present = open_ports(server.port)
        for kind, some in left.items():
            gone = some - present
            closed[kind] += [time.monotonic() - opened[one] for one in gone]
            some -= gone
    return {kind: (closed[kind], len(left[kind])) for kind in kinds}


def another(server, owned, seconds):
    """A client alone: the seconds of each conditional GET and each push."""
    looks, pushes = [], []
    rates.read_tags(server, owned)
    rates.prepare(owned, 12)
    sock = clients.connect(server.port)
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        remote = owned[number % len(owned)]
        number += 1
        token = server.tokens[remote.account]
        for _ in range(4):
            begin = time.monotonic()
            status, _ = clients.ask(sock, remote.look(token))
            looks.append(time.monotonic() - begin)
            if status != 304:
                raise RuntimeError(f"a conditional GET was answered with {status}")
        begin = time.monotonic()
        for request in remote.next_push(token):
            status, _ = clients.ask(sock, request)
            if status != 204:
                raise RuntimeError(f"a push was answered with {status}")
        pushes.append(time.monotonic() - begin)
        remote.pushed()
        time.sleep(0.03)
    sock.close()
    return looks, pushes


def large_pack(server, remote):
    """Stores a pack of 4 MiB, and gives its path."""
    parcels = [remote.parcel(256 * 1024) for _ in range(15)]
    remote.number += 1
    path = remote.path + b"/%08x/%016x.pack" % (remote.device.number, remote.number)
    packed = remotes.wire.pack(remote.vault, remote.device, remote.number, parcels)
    sock = clients.connect(server.port)
    status, _ = clients.ask(sock, remotes.request(b"PUT", path, server.tokens[remote.account], packed))
    sock.close()
    if status != 204:
        raise RuntimeError(f"a large pack was answered with {status}")
    return path


def measure(server, owned, options, progress):
    for account in {remote.account for remote in owned}:
        server.log_in(account)
    large = large_pack(server, owned[0])
    owned = owned[1:]
    memory, seconds, result = [server.memory()[0]], 20, {}
    progress("slow clients: another client alone")
    result["alone"] = another(server, owned, seconds)
    progress("slow clients: opens connections")
    slow = clients.Process(lambda send: crowd(server, server.tokens[owned[0].account], large, send))
    try:
        result["open"] = slow.wait()
        memory.append(server.memory()[0])
        progress("slow clients: another client beside them")
        result["beside"] = another(server, owned, seconds)
        memory.append(server.memory()[0])
        progress(f"slow clients: waits up to {SECONDS} s until the server has closed them")
        result["closed"] = slow.wait()
    finally:
        slow.end()
    time.sleep(5)
    memory.append(server.memory()[0])
    return result | {"memory": memory, "peak": server.memory()[1]}


def table(found):
    lines = ["| another client | conditional GET, median | p99 | push, median | p99 |", "|---|---:|---:|---:|---:|"]
    for key, text in (("alone", "alone"), ("beside", f"beside {sum(found['open'].values()):,} slow and idle ones")):
        cells = [f"{rates.milliseconds(times, share):.1f} ms" for times in found[key] for share in (0.5, 0.99)]
        lines.append(f"| {text} | " + " | ".join(cells) + " |")
    lines += ["", "| connections | open | closed by the server after | still open |", "|---|---:|---:|---:|"]
    words = {"head": "a byte of the head a second", "body": "a byte of the body a second",
             "deaf": "do not read their answer of 4 MiB", "idle": "idle after an answer"}
    for kind, text in words.items():
        times, left = found["closed"][kind]
        span = f"{min(times):.0f} … {max(times):.0f} s" if times else ""
        lines.append(f"| {text} | {found['open'][kind]:,} | {span} | {left} |")
    names = ("before", "with all connections", "20 s later", "after the last one was closed")
    lines += ["", "Memory: " + ", ".join(f"{one:,} KiB {when}" for one, when in zip(found["memory"], names)) +
              f"; at most {found['peak']:,} KiB."]
    return lines
