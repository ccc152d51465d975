"""A server of remotes, written from docs/formats/sync.md, "Over HTTP", alone. `serve sync` runs this file, with the folder in FOLDER.

It keeps the files in memory and checks what the page says, but for signatures. The account is alice with the password
"correct horse 42". What it does wrong is in the file `fault`, as a line "KIND METHOD WORD": for requests of this method whose path has this
word. The file `lifetime` has the seconds of an access token. `seen` has each request as a line of JSON: method, path, status (0: it is
not answered), connection, bytes of the request and of the answer, and those of their bodies.
"""
import hashlib, http.server, json, os, pathlib, re, secrets, socket, ssl, struct, threading, time, urllib.parse

from ports import hold

SEEN, FAULT, LIFETIME = (f"{FOLDER}/{name}" for name in ("seen", "fault", "lifetime"))
TYPE = "application/vnd.omvault.sync"
lock = threading.Condition()
remotes = {}  # (vault, incarnation) -> Remote
grants = []
connections = iter(range(1, 1 << 30))


def digest(data):
    return hashlib.blake2b(data, digest_size=32).digest()


class Refused(Exception):
    def __init__(self, status, name):
        self.status, self.name = status, name


class Remote:
    def __init__(self, founding):
        self.founding, self.change, self.files = founding, 1, {}
        self.heads = {}  # device -> [(number, bytes)], the two newest
        self.packs = {}  # device -> {number: bytes}, also superseded ones

    def listing(self):
        entries = []
        for path, data in self.files.items():
            kind, *parts = names(path)
            if kind == "entry":
                entries.append(struct.pack(">BI32s", 1, *parts))
            elif kind == "heads":
                entries.append(struct.pack(">BI32s", 3, parts[0], digest(data)))
            elif kind == "message":
                entries.append(struct.pack(">B16sB", 5, *parts))
        for device, heads in self.heads.items():
            for number, data in heads:
                entries.append(struct.pack(">BIB32s", 2, device, 1 - number % 2, digest(data)))
        for device, packs in self.packs.items():
            listed = set()
            if self.heads.get(device):
                listed = set(listed_packs(self.heads[device][0][1]))
            last = max(listed, default=0)
            for number in packs:
                if number in listed or number > last:
                    entries.append(struct.pack(">BIQ", 4, device, number))
        return struct.pack(">BQI", 1, self.change, len(entries)) + b"".join(sorted(entries))

    def get(self, path):
        kind, *parts = names(path)
        if kind == "remote":
            return self.founding
        if kind == "head":
            device, second = parts
            return next((data for number, data in self.heads.get(device, []) if number % 2 == 1 - second), None)
        if kind == "pack":
            return self.packs.get(parts[0], {}).get(parts[1])
        return self.files.get(path)

    def put(self, path, data):
        """Returns whether another device must see it."""
        kind, *parts = names(path)
        if kind == "entry":
            if digest(data) != parts[1]:
                raise Refused(422, "refused")
            if self.files.get(path) == data:
                return False
            self.files[path] = data
        elif kind == "head":
            device, second = parts
            number, previous = struct.unpack_from(">Q32s", data, 37)
            if struct.unpack_from(">I", data, 33)[0] != device or number % 2 != 1 - second:
                raise Refused(422, "refused")
            have = self.heads.setdefault(device, [])
            if have and have[0][1] == data:
                return False
            if number != (have[0][0] + 1 if have else 1) or previous != (digest(have[0][1]) if have else bytes(32)):
                raise Refused(409, "conflict")
            for pack, want in listed_packs(data).items():
                if digest(self.packs.get(device, {}).get(pack, b"")) != want:
                    raise Refused(422, "refused")
            self.heads[device] = [(number, data)] + have[:1]
        elif kind == "pack":
            device, number = parts
            old = self.packs.setdefault(device, {}).setdefault(number, data)
            if old != data:
                raise Refused(409, "conflict")
            return False
        elif kind == "message":
            old = self.files.setdefault(path, data)
            if old != data:
                raise Refused(409, "conflict")
        elif kind == "heads":
            self.files[path] = data
        return True

    def delete(self, path):
        kind, *parts = names(path)
        if kind == "pack":
            listed = listed_packs(self.heads[parts[0]][0][1]) if self.heads.get(parts[0]) else {}
            if parts[1] in listed:
                raise Refused(409, "conflict")
            return False
        return self.files.pop(path, None) is not None


def names(path):
    patterns = [("remote", "remote", ()), ("entry", "roll/([0-9a-f]{8})-([0-9a-f]{64})", (16, 0)),
                ("head", "([0-9a-f]{8})/head(|\\.1)", (16, 1)), ("heads", "([0-9a-f]{8})/heads", (16,)),
                ("pack", "([0-9a-f]{8})/([0-9a-f]{16})\\.pack", (16, 16)), ("message", "mail/([0-9a-f]{32})-([1-4])", (0, 10))]
    for kind, pattern, bases in patterns:
        found = re.fullmatch(pattern, path)
        if found:
            read = {0: bytes.fromhex, 1: len, 10: int, 16: lambda text: int(text, 16)}
            parts = [read[base](text) for base, text in zip(bases, found.groups())]
            if kind == "head":
                parts[1] = 1 if parts[1] else 0
            return [kind] + parts
    raise Refused(404, "not-found")


def listed_packs(head):
    at = 37 + 8 + 32 + 32 + 4 + 36 + 8 + 8
    others, = struct.unpack_from(">H", head, at)
    at += 2 + 44 * others
    count, = struct.unpack_from(">H", head, at)
    return dict(struct.unpack_from(">Q32s", head, at + 2 + 40 * index) for index in range(count))


LIMITS = {"remote": 16 << 10, "entry": 16 << 10, "head": 256 << 10, "heads": 4 << 20, "pack": 4 << 20, "message": (64 << 10) + 512}


class Grant:
    """The newest refresh token, and the one before until the newest access token was used."""

    def __init__(self):
        self.before, self.ended, self.access, self.spent = None, False, {}, set()
        self.renew()

    def renew(self):
        self.refresh, self.newest, self.is_used = secrets.token_hex(16), secrets.token_hex(16), False
        seconds = int(pathlib.Path(LIFETIME).read_text()) if os.path.exists(LIFETIME) else 900
        self.access[self.newest] = time.monotonic() + seconds
        return {"access_token": self.newest, "token_type": "Bearer", "expires_in": seconds, "refresh_token": self.refresh,
                "scope": "sync"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        self.number, self.sent = next(connections), 0

    def fault(self):
        try:
            for line in pathlib.Path(FAULT).read_text().splitlines():
                kind, method, word = line.split(" ")
                if method == self.command and word in self.path:
                    return kind
        except (FileNotFoundError, ValueError):
            pass
        return None

    def answer(self, status, body=b"", kind=TYPE, **headers):
        fault = self.fault()
        head = [f"HTTP/1.1 {status} {http.server.BaseHTTPRequestHandler.responses.get(status, ('',))[0]}"]
        if status not in (204, 304):
            head += [f"Content-Length: {len(body) + (1 if fault == 'torn' else 0)}", f"Content-Type: {'text/html' if fault == 'html' else kind}"]
        head += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        whole = "\r\n".join(head).encode() + b"\r\n\r\n" + body
        with lock, open(SEEN, "a") as seen:
            sizes = len(str(self.headers)) + len(self.requestline) + 2 + len(self.body), len(whole)
            seen.write(json.dumps({"method": self.command, "path": self.path, "status": status, "connection": self.number, "in": sizes[0],
                                   "out": sizes[1], "body_in": len(self.body), "body_out": len(body)}) + "\n")
        self.wfile.write(whole)
        if fault in ("torn", "close"):
            self.close_connection = True

    def problem(self, status, name, **headers):
        self.answer(status, json.dumps({"type": f"urn:omvault:{name}", "status": status}).encode(), "application/problem+json", **headers)

    def handle_any(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            fault = self.fault()
            if fault == "hang":
                with lock, open(SEEN, "a") as seen:
                    seen.write(json.dumps({"method": self.command, "path": self.path, "status": 0}) + "\n")
                time.sleep(3600)
            if fault == "redirect":
                return self.answer(307, Location="https://elsewhere.example/")
            if fault == "large":
                return self.answer(200, bytes(5 << 20))
            if fault and fault.isdigit():
                return self.problem(int(fault), "fault")
            self.route(fault)
        except Refused as refused:
            self.problem(refused.status, refused.name)

    do_GET = do_PUT = do_DELETE = do_POST = handle_any

    def token(self):
        form = urllib.parse.parse_qs(self.body.decode())
        ask = lambda name: form.get(name, [""])[0]
        refused = lambda: self.answer(400, b'{"error":"invalid_grant"}', "application/json")
        if ask("client_id") != "omvault":
            return self.answer(401, b'{"error":"invalid_client"}', "application/json")
        with lock:
            if ask("grant_type") == "password":
                if (ask("username"), ask("password"), ask("scope")) != ("alice", "correct horse 42", "sync") or not ask("device"):
                    grant = None
                else:
                    grant = Grant()
                    grants.append(grant)
                    said = {**grant.renew()}
            else:
                token = ask("refresh_token")
                grant = next((one for one in grants if token and token in (one.refresh, one.before, *one.spent)), None)
                if grant and (grant.ended or token in grant.spent or token == grant.before and grant.is_used):
                    grant.ended, grant = True, None
                if grant:
                    grant.spent |= {grant.before, grant.refresh} - {token, None}
                    grant.before = token
                    said = grant.renew()
        return self.answer(200, json.dumps(said).encode(), "application/json") if grant else refused()

    def revoke(self):
        token = urllib.parse.parse_qs(self.body.decode()).get("token", [""])[0]
        with lock:
            for grant in grants:
                grant.ended = grant.ended or token in (grant.refresh, grant.before, *grant.spent)
        return self.answer(200)

    def check(self):
        kind, _, token = (self.headers.get("Authorization") or "").partition(" ")
        with lock:
            for grant in grants:
                if kind == "Bearer" and grant.access.get(token, 0) > time.monotonic() and not grant.ended:
                    grant.is_used = grant.is_used or token == grant.newest
                    return
        raise Refused(401, "unauthorized")

    def route(self, fault):
        path, _, query = self.path.partition("?")
        if path == "/vault/oauth2/token" and self.command == "POST":
            return self.token()
        if path == "/vault/oauth2/revoke" and self.command == "POST":
            return self.revoke()
        if path == "/vault/v1/sync" and self.command == "GET":
            return self.answer(200, b'{"protocols":[1]}', "application/json")
        self.check()
        found = re.fullmatch("/vault/v1/sync/([0-9a-f]{32}|remotes)(?:-([0-9a-f]{32})/(.+))?", path)
        if not found:
            raise Refused(404, "not-found")
        vault, incarnation, file = found.groups()
        if incarnation is None:
            with lock:
                every = [pair for pair in remotes if vault in (pair[0], "remotes")]
            whole = [bytes.fromhex(v if vault == "remotes" else "") + bytes.fromhex(i) for v, i in every]
            return self.answer(200, struct.pack(">H", len(whole)) + b"".join(whole))
        with lock:
            remote = remotes.get((vault, incarnation))
            if self.command == "PUT" and file == "remote":
                if remote:
                    return self.answer(204) if remote.founding == self.body else self.problem(409, "conflict")
                if self.body[2:18].hex() != vault:
                    raise Refused(422, "refused")
                remotes[vault, incarnation] = Remote(self.body)
                return self.answer(201)
            if remote is None:
                raise Refused(404, "not-found")
            if self.command == "GET" and file == "files":
                tag = f'"{remote.change}"'
                if self.headers.get("If-None-Match") == tag:
                    return self.answer(304, ETag=tag)
                return self.answer(200, remote.listing(), ETag=tag)
            if self.command == "GET":
                data = remote.get(file)
                if data is None:
                    raise Refused(404, "not-found")
                if fault == "flip":
                    data = data[:-1] + bytes([data[-1] ^ 1])
                return self.answer(200, data)
            if self.command == "PUT":
                if self.headers.get("Content-Type") != TYPE:
                    raise Refused(415, "type")
                if len(self.body) > LIMITS[names(file)[0]]:
                    raise Refused(413, "too-large")
                if fault != "forget":
                    remote.change += 1 if remote.put(file, self.body) else 0
                if fault == "refuse-stored":
                    raise Refused(409, "conflict")
                return self.answer(204)
            if self.command == "DELETE":
                remote.change += 1 if remote.delete(file) else 0
                return self.answer(204)
        raise Refused(405, "method")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, allow_reuse_address = True, True

    def __init__(self, port, tls):
        self.tls = tls
        super().__init__(("127.0.0.1", port), Handler)

    def finish_request(self, request, client):
        super().finish_request(self.tls.wrap_socket(request, server_side=True) if self.tls else request, client)

    def handle_error(self, *_):
        pass


made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
made.load_cert_chain(f"{FOLDER}/good.crt", f"{FOLDER}/good.key")
for key, tls in (("secure", made), ("plain", None)):
    server = Server(hold(), tls)
    print(f"{key}=http{'s' if tls else ''}://localhost:{server.server_address[1]}/vault")
    threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"seen={SEEN}\nfault={FAULT}\nlifetime={LIFETIME}")
print("ready", flush=True)
threading.Event().wait()
