"""Servers on loopback that break rules, with one port for each kind. `serve odd` runs this file, with the folder in FOLDER.

Each prints its port as KEY=VALUE. The servers `http` and `https` answer by the path: see `http`. A path after `/for/WORD` gets
the same answer as without it. Its requests are in a separate file, for the test that uses this word.
"""
import itertools, json, os, pathlib, socket, ssl, struct, threading, time, urllib.parse

from ports import hold

SEEN = f"{FOLDER}/seen"  # every request as a line of JSON, for tests that ask what was sent
lock = threading.Lock()
serial = itertools.count(1)
newest = {}  # the only refresh token of each user that "unique" takes
listeners = {}
more = {}  # what the second halves of answers wait for, by the word
told = {}  # the answers that a test wrote, by its word and by the path


def context(name):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(f"{FOLDER}/{name}.crt", f"{FOLDER}/{name}.key")
    return made


def port_of_both():
    """A port that is held at 127.0.0.1, and a socket that is bound to it at ::1. Another server may have it at one of them."""
    while True:
        port, six = hold(), socket.socket(socket.AF_INET6)
        six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            six.bind(("::1", port))
            return port, six
        except OSError:
            six.close()


def listen(key, handle, family=socket.AF_INET, host="127.0.0.1", tls=None, port=None):
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    listener.bind((host, port or hold(family, host)))
    listener.listen(64)
    print(f"{key}={listener.getsockname()[1]}")
    listeners[key] = listener

    def serve(connection):
        try:
            if tls is not None:
                connection = tls.wrap_socket(connection, server_side=True)
            handle(connection)
        except (OSError, ssl.SSLError, ValueError):
            pass
        finally:
            connection.close()

    def accept():
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:  # it listens no more
                return listener.close()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def black_hole(connection):
    while connection.recv(4096):
        pass


def garbage(connection):
    connection.recv(4096)
    connection.sendall(b"\x00\x01\x02 no protocol of yours\r\n\r\n" * 4)


def closing(connection):
    """Ends the connection with FIN during the TLS handshake, after reading everything that came."""
    connection.recv(65536)


def closing_at_once(connection):
    """Ends the connection before the handshake. The system answers later bytes with RST."""


def resetting(connection):
    connection.recv(65536)
    reset(connection)


def half_hello(connection):
    """Begins its part of the handshake, and ends the connection with FIN in the middle of it."""
    arriving, leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context("good").wrap_bio(arriving, leaving, server_side=True)
    arriving.write(connection.recv(65536))
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    connection.sendall(leaving.read()[:60])


def leaving(connection):
    """Takes a password, redirects the login to itself, and then refuses every connection."""
    _, _, fields, _ = request(connection)
    if "authorization" not in fields:
        return send(connection, 401, b"", 'WWW-Authenticate: Basic realm="odd"')
    listeners["leaving"].shutdown(socket.SHUT_RDWR)
    send(connection, 302, b"", "Location: /home", "Set-Cookie: SID=abc; Path=/")


def request(connection):
    """The head and the body of one request."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            raise ValueError("no request")
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    while len(body) < int(fields.get("content-length", 0)):
        body += connection.recv(65536)
    if fields.get("transfer-encoding") == "chunked":
        whole, size = b"", None
        while size != 0:
            while b"\r\n" not in body:
                body += connection.recv(65536)
            digits, _, body = body.partition(b"\r\n")
            size = int(digits, 16)
            while len(body) < size + 2:
                body += connection.recv(65536)
            whole, body = whole + body[:size], body[size + 2:]
        body = whole
    method, target, _ = lines[0].split(" ")
    return method, target, fields, body


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def send(connection, status, body=b"", *fields, protocol="HTTP/1.1", length=True):
    if isinstance(body, (dict, list)):
        fields, body = ("Content-Type: application/json;charset=UTF-8",) + fields, json.dumps(body).encode()
    lines = [f"{protocol} {status} Said", *fields]
    if length:
        lines.append(f"Content-Length: {len(body)}")
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + body)


def oauth(connection, case, method, fields, body, base):
    """A token endpoint that behaves like some real server. `case` is the last part of the path."""
    form = dict(urllib.parse.parse_qsl(body.decode("latin-1"), keep_blank_values=True, encoding="utf-8"))
    refreshing = form.get("grant_type") == "refresh_token"
    good = {"access_token": "at-2" if refreshing else "at-1", "token_type": "Bearer"}
    answers = {
        "plain": (200, dict(good, expires_in=3600, refresh_token="rt-2" if refreshing else "rt-1", scope="a b")),
        "quoted": (200, dict(good, expires_in="3600", token_type="bearer", refresh_token="rt-1")),
        "short": (200, dict(good, expires_in=0, refresh_token="rt-1")),
        "keeps": (200, dict(good, expires_in=0) if refreshing else dict(good, expires_in=0, refresh_token="rt-1")),
        "bare": (200, {"access_token": "at-1", "token_type": "BEARER"}),
        "mac": (200, dict(good, token_type="mac")),
        "list": (200, [good]),
        "number": (200, dict(good, access_token=7)),
        "empty": (200, dict(good, access_token="")),
        "invalid-grant": (400, {"error": "invalid_grant", "error_description": "Invalid user credentials"}),
        "disabled": (400, {"error": "invalid_grant", "error_description": "Account disabled"}),
        "azure-disabled": (400, {"error": "invalid_grant", "error_description": "AADSTS50057: The account is disabled."}),
        "named-disabled": (400, {"error": "invalid_grant", "error_description": "No such user: account disabled"}),
        "not-set-up": (400, {"error": "invalid_grant", "error_description": "Account is not fully set up"}),
        "bare-grant": (400, {"error": "invalid_grant"}),
        "invalid-client": (401, {"error": "invalid_client"}),
        "unauthorized-client": (400, {"error": "unauthorized_client"}),
        "invalid-scope": (400, {"error": "invalid_scope"}),
        "invalid-request": (400, {"error": "invalid_request"}),
        "no-grant": (400, {"error": "unsupported_grant_type"}),
        "denied": (403, {"error": "access_denied"}),
        "denied-401": (401, {"error": "access_denied", "error_description": "Invalid username or password"}),
        "own-word": (401, {"error": "unauthorized", "error_description": "Bad credentials"}),
        "own-word-400": (400, {"error": "unauthorized", "error_description": "Bad credentials"}),
        "odd-error": (400, {"error": {"code": 7}}),
        "busy": (503, {"error": "temporarily_unavailable"}),
        "busy-400": (400, {"error": "temporarily_unavailable"}),
        "busy-later": (400, {"error": "temporarily_unavailable"}, "Retry-After: 5"),
        "words": (400, {"error": "invalid_request", "error_description": "Invalid 'username' or 'password' in request."}),
        "more-words": (400, {"error": "invalid_request",
                             "error_description": "Invalid 'username' or 'password' in request. Try bob."}),
        "failure": (400, {"error": "invalid_grant", "error_description": "authentication failure"}),
        "more-failure": (400, {"error": "invalid_grant", "error_description": "authentication failure for bob"}),
        "failure-request": (400, {"error": "invalid_request", "error_description": "authentication failure"}),
        "short-bare": (200, dict(good, expires_in=0)),
        "renewing": (200, dict(good, expires_in=3600 if refreshing else 0, refresh_token="rt-1")),
        "no-target": (400, {"error": "invalid_target"}),
        "exchanged": (200, dict(good, issued_token_type="urn:ietf:params:oauth:token-type:access_token", expires_in=60,
                                refresh_token="rt-1", scope=["b", "a"])),
        "exchanged-jwt": (200, dict(good, issued_token_type="urn:ietf:params:oauth:token-type:jwt")),
        "exchanged-refresh": (200, dict(good, issued_token_type="urn:ietf:params:oauth:token-type:refresh_token")),
        "exchanged-number": (200, dict(good, issued_token_type=7)),
        "not-applicable": (200, dict(good, issued_token_type="urn:ietf:params:oauth:token-type:jwt", token_type="N_A")),
        "status-404": (404, b"not here"),
        "limit": (429, {"error": "invalid_grant"}),
        "broken": (500, {"error": "invalid_grant"}),
        "speechless": (500, b"oh no"),
        "unauthorized": (401, b"no"),
        "html": (200, b"<html>hello</html>"),
    }
    if case == "first-only":
        answer = answers["invalid-grant"] if refreshing else answers["short"]
    elif case in ("unique", "narrowing"):
        # Each token is another one, a refresh token is taken once, and a login's access token has no life. While there is the
        # file `down`, a gateway says that the server is down. "unique" gives the same scopes whatever is asked for, and
        # "narrowing" those that are asked for.
        if pathlib.Path(f"{FOLDER}/down").exists():
            return send(connection, 503)
        with lock:
            user = form.get("username", "")
            if refreshing:
                users = [user for user, token in newest.items() if token == form["refresh_token"]]
                if not users:
                    return send(connection, *answers["invalid-grant"])
                user = users[0]
            number, life = next(serial), 0 if form.get("grant_type") == "password" else 3600
            newest[user] = fresh = f"rt-{number}"
        answer = (200, {"access_token": f"at-{number}", "token_type": "Bearer", "expires_in": life, "refresh_token": fresh,
                        "scope": form.get("scope", "a b") if case == "narrowing" else "a b"})
    elif case == "brief":
        # Each token lives for two seconds. While there is the file `held`, no answer comes; `holding` says that one is due.
        while pathlib.Path(f"{FOLDER}/held").exists():
            pathlib.Path(f"{FOLDER}/holding").touch()
            time.sleep(0.01)
        with lock:
            number = next(serial)
        answer = (200, dict(good, access_token=f"at-{number}", expires_in=2, refresh_token="rt-1"))
    elif case == "marked":
        answer = (200, dict(good, access_token="a-token-that-occurs-" + "nowhere-else-4711", expires_in=3600))
    elif case == "injected":
        answer = (200, dict(good, access_token="at'1 \r\nX-A: \"b", expires_in=3600))
    elif case == "quoting":
        answer = (200, dict(good, access_token='at"1\\2', expires_in=3600))
    elif case == "moved":
        return send(connection, 307, b"", f"Location: {base}/token/plain")
    elif case == "big":
        return send(connection, 200, b"{" + b" " * (300 << 10) + b"}")
    elif case == "revoke":
        return send(connection, 200)
    elif case == "revoke-unsupported":
        return send(connection, 400, {"error": "unsupported_token_type"})
    else:
        answer = answers[case]
    send(connection, *answer)


CHALLENGES = {
    "/negotiate": "Negotiate", "/either": 'Negotiate, Basic realm="odd"',
    "/digest": 'Digest realm="x, Basic y", nonce="1"', "/digest-escaped": r'Digest realm="x\", Basic y", nonce="1"',
    "/digest-open": 'Digest realm="x, Basic y', "/second": 'Digest realm="x, y", Basic realm="odd"', "/tab": 'Basic\trealm="odd"',
}


def http(scheme):
    def handle(connection):
        method, target, fields, body = request(connection)
        word = target.split("/")[2] if target.startswith("/for/") else ""
        prefix = f"/for/{word}" if word else ""
        target = target.removeprefix(prefix)
        base = f"{scheme}://{fields['host']}{prefix}"
        with lock, open(f"{SEEN}-{word}" if word else SEEN, "a") as file:
            file.write(json.dumps([method, target, fields, body.decode("latin-1")]) + "\n")
        path = target.partition("?")[0]
        authorized = "authorization" in fields
        if target.startswith("/token?as="):
            # One endpoint with any behaviour, so it is always one login.
            path = "/token/" + target.removeprefix("/token?as=")
        if path.startswith("/tell/"):
            # The test says what the server answers at this path below /told: each answer once, and the last for ever.
            with lock:
                told[word, path.removeprefix("/tell/")] = json.loads(body)
            send(connection, 204)
        elif path.startswith("/told/"):
            with lock:
                answers = told.get((word, path.removeprefix("/told/"))) or [{"status": 404, "fields": [], "body": ""}]
                answer = answers.pop(0) if len(answers) > 1 else answers[0]
            body, names = answer["body"].encode(), {field.partition(":")[0].lower() for field in answer["fields"]}
            if "transfer-encoding" in names:
                # Each byte is a chunk.
                body = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
            own = bool({"content-length", "transfer-encoding"} & names)
            send(connection, answer["status"], body, *answer["fields"], length=not own)
            if "x-stalls" in names:
                black_hole(connection)
        elif path.startswith("/token/"):
            oauth(connection, path.rpartition("/")[2], method, fields, body, base)
        elif path.endswith("/.well-known/openid-configuration"):
            tenant = path[: -len("/.well-known/openid-configuration")]
            issuer = {"/wrong-issuer": "https://elsewhere.example", "/other-tenant": base + "/tenant-b"}.get(
                tenant, base + tenant)
            document = {"issuer": issuer, "token_endpoint": f"{base}/token/plain",
                        "revocation_endpoint": f"{base}/token/revoke"}
            if tenant == "/post":
                document["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
            if tenant == "/post-basic":
                document["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
                document["revocation_endpoint_auth_methods_supported"] = ["client_secret_basic"]
            if tenant == "/silent":
                del document["revocation_endpoint"]
            if tenant == "/unsafe-revocation":
                document["revocation_endpoint"] = "http://elsewhere.example/revoke"
            if tenant == "/unsafe":
                document["token_endpoint"] = "http://elsewhere.example/token"
            if tenant == "/nothing":
                document = {"issuer": issuer}
            if tenant == "/foreign":
                # The same machine by another name is another origin.
                document["token_endpoint"] = f"{base}/token/plain".replace("127.0.0.1", "localhost")
            send(connection, 200, document)
        elif path == "/hanging":
            black_hole(connection)
        elif path == "/stalled":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
            black_hole(connection)
        elif path == "/halves":
            # The second half of the body is sent when the client has asked for /more.
            with lock:
                wanted = more.setdefault(word, threading.Event())
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
            wanted.wait()
            connection.sendall(b"world")
        elif path == "/more":
            with lock:
                more.setdefault(word, threading.Event()).set()
            send(connection, 204)
        elif not authorized and path in CHALLENGES:
            send(connection, 401, b"", "WWW-Authenticate: " + CHALLENGES[path])
        elif path.startswith("/hop-") and path != "/hop-0":
            send(connection, 302, b"", f"Location: {base}/hop-{int(path[5:]) - 1}")
        elif path == "/slow-clock" and authorized:
            send(connection, 200, b"hello", "Date: Mon, 01 Jan 2024 00:00:00 GMT")
        elif not authorized and path != "/no-challenge":
            send(connection, 401, b"", 'WWW-Authenticate: Basic realm="odd"')
        elif path == "/no-challenge":
            send(connection, 200, b"welcome, whoever")
        elif path == "/chunked":
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        elif path == "/old":
            send(connection, 200, b"hello", protocol="HTTP/1.0", length=False)
            if isinstance(connection, ssl.SSLSocket):
                connection.unwrap()
        elif path == "/continue":
            connection.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            send(connection, 200, b"hello")
        elif path == "/bad-record":
            # Over TLS, a record that is not encrypted.
            os.write(connection.fileno(), b"\x17\x03\x03\x00\x40" + b"x" * 64)
            time.sleep(0.2)
        elif path == "/cut":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello")
        elif path == "/reset":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello")
            time.sleep(0.2)
            reset(connection)
        elif path.startswith("/status-"):
            connection.sendall(f"HTTP/1.1 {path[8:]} Said\r\nContent-Length: 5\r\n\r\nhello".encode())
        elif path == "/nothing":
            pass
        elif path == "/endless":
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                connection.sendall(b"x" * 65536)
        elif path == "/headers":
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            for number in range(1_000_000):
                connection.sendall(f"X-{number}: {'y' * 1000}\r\n".encode())
        elif path == "/long-header":
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while True:
                connection.sendall(b"y" * 65536)
        elif path == "/cookies":
            send(connection, 200, b"", *(f"Set-Cookie: c{number}={'v' * 400}" for number in range(100)))
        elif path == "/two-lengths":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")
        elif path == "/garbage":
            connection.sendall(b"\x00\x01\x02 no protocol of yours\r\n\r\n" * 4)
        elif path == "/drip-head":
            for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"y" * 1000:
                connection.sendall(bytes([byte]))
                time.sleep(0.05)
        elif path == "/drip-body":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while True:
                connection.sendall(b"x")
                time.sleep(0.05)
        elif path == "/informational":
            while True:
                connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                time.sleep(0.01)
        else:
            send(connection, 200, b"hello", 'Set-Cookie: SID=abc; Path=/; Secure')
    return handle


print(f"seen={SEEN}")
listen("blackhole", black_hole)
listen("garbage", garbage)
listen("leaving", leaving)
listen("closing", closing)
listen("closing_at_once", closing_at_once)
listen("resetting", resetting)
listen("half_hello", half_hello)
listen("http", http("http"))
listen("https", http("https"), tls=context("good"))
listen("https_without_names", http("https"), tls=context("bare"))
old = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
old.set_ciphers("DEFAULT:@SECLEVEL=0")
old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
old.load_cert_chain(f"{FOLDER}/good.crt", f"{FOLDER}/good.key")
listen("tls11", http("https"), tls=old)

# If localhost has two addresses: at one port only the IPv6 address answers, at another port only the IPv4 address.
if socket.has_ipv6 and pathlib.Path("/proc/net/if_inet6").read_text():
    listen("v6", http("http"), family=socket.AF_INET6, host="::1")
    # The IPv6 address neither accepts nor refuses connections here: its queue is full.
    half, full = port_of_both()
    listen("half", http("http"), port=half)
    full.listen(0)
    waiting = [socket.socket(socket.AF_INET6) for _ in range(4)]
    for each in waiting:
        each.setblocking(False)
        each.connect_ex(("::1", half))
print(f"closed={hold()}")
print("ready", flush=True)
threading.Event().wait()
