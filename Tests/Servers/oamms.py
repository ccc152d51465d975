"""A Mobile and Social service that knows only the pairs of Tests/Golden/mobile-social/pairs.json, and compares every request.

`serve oamms` runs this file, with the folder in FOLDER. A test writes the ids of the pairs that it expects, in their order, to
the file that `script` names, one a line. After an id, a line `/STATUS` changes the status of its answer, a line `@NAME JSON`
puts the JSON in place of a member of the answer (`@NAME` takes it out), a line `+NAME: VALUE` expects a header more,
and after a line `!` the server refuses all connections. The line `linux` makes the pairs those of a client on this machine. A request
that is not the next one of the script gets 500. `seen` has a line for each request: the pair's id, or how the request differs.
"""
import copy, http.server, json, os, pathlib, socket, ssl, threading

from ports import hold

PAIRS = {pair["id"]: pair for pair in json.loads(
    (HERE.parent / "Golden" / "mobile-social" / "pairs.json").read_text())["pairs"]}
SCRIPT, SEEN, RAW = f"{FOLDER}/script", f"{FOLDER}/seen-pairs", f"{FOLDER}/raw"
TRANSPORT = {"host", "connection", "content-length", "user-agent", "accept"}
CLAIM = "oracle:idm:claims:client:"
lock = threading.Lock()
servers = []


def script():
    """The pairs that are expected, with the answers that the script changes."""
    expected, is_linux = [], False
    for line in pathlib.Path(SCRIPT).read_text().splitlines():
        if line == "linux":
            is_linux = True
        elif line.startswith("/"):
            expected[-1]["answer"]["status"] = int(line[1:])
        elif line == "!":
            expected[-1]["leaves"] = True
        elif line.startswith("+"):
            name, _, value = line[1:].partition(": ")
            expected[-1]["request"]["headers"].setdefault(name, value)
        elif line.startswith("@"):
            name, _, value = line[1:].partition(" ")
            answer = expected[-1]["answer"].setdefault("json", {})
            if value:
                answer[name] = json.loads(value)
            else:
                answer.pop(name, None)
        elif line:
            expected.append(copy.deepcopy(PAIRS[line]))
    if is_linux:
        for pair in expected:
            of_linux(pair["request"])
    return expected


def of_linux(request):
    version = ".".join(os.uname().release.split("-")[0].split(".")[:2])
    request["target"] = request["target"].replace("osType=iPhone%20OS&osVer=8.1", f"osType=Linux&osVer={version}")
    claims = request.get("json", {}).get("deviceProfile")
    if claims:
        claims.update({CLAIM + "ostype": "Linux", CLAIM + "osversion": version})


def differences(request, method, target, fields, body):
    """How the request differs from the expected one. Empty if it does not."""
    wanted = {name.lower(): value for name, value in request["headers"].items()}
    given = {name: value for name, value in fields.items() if name in wanted or name not in TRANSPORT}
    found = []
    for what, want, have in (("method", request["method"], method), ("target", request["target"], target),
                             ("headers", wanted, given)):
        if want != have:
            found.append(f"{what}: {have!r} in place of {want!r}")
    def once(pairs):
        assert len(dict(pairs)) == len(pairs), "a member twice"
        return dict(pairs)
    try:
        have = json.loads(body, object_pairs_hook=once) if body else None
    except Exception as error:
        have = f"no JSON: {error}"
    if have != request.get("json"):
        found.append(f"body: {have!r} in place of {request.get('json')!r}")
    return found


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        fields = {name.lower(): value for name, value in self.headers.items()}
        with lock:
            number = len(pathlib.Path(SEEN).read_text().splitlines())
            with open(RAW, "ab") as raw:
                raw.write(f"{self.requestline}\n{self.headers}".encode() + body + b"\n\n")
            expected = script()
            if number >= len(expected):
                said, answer = f"one request too many: {self.command} {self.path}", {"status": 500}
            else:
                pair = expected[number]
                found = differences(pair["request"], self.command, self.path, fields, body)
                said, answer = ("; ".join(found), {"status": 500}) if found else (pair["id"], pair["answer"])
            with open(SEEN, "a") as seen:
                seen.write(said.replace("\n", " ") + "\n")
            if number < len(expected) and expected[number].get("leaves"):
                for server in servers:
                    server.socket.shutdown(socket.SHUT_RDWR)
                    threading.Thread(target=server.shutdown).start()
        content = json.dumps(answer["json"]).encode() if "json" in answer else b""
        self.send_response(answer["status"])
        for name, value in answer.get("headers", {}).items():
            self.send_header(name, value)
        if content:
            self.send_header("Content-Type", "application/json")
        if answer["status"] != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = do_PUT = do_HEAD = handle_one


def listen(tls):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", hold()), Service, bind_and_activate=False)
    server.allow_reuse_address = True
    server.server_bind()
    server.server_activate()
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{FOLDER}/good.crt", f"{FOLDER}/good.key")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    servers.append(server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


for file in (SCRIPT, SEEN, RAW):
    pathlib.Path(file).write_text("")
print(f"port={listen(True)}")
print(f"plain={listen(False)}")
print(f"script={SCRIPT}")
print(f"seen={SEEN}")
print(f"raw={RAW}")
print("ready", flush=True)
threading.Event().wait()
