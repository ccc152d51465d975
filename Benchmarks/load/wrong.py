"""Requests that are wrong, and the statuses that they must get."""
import socket, time

import clients, remotes

FORM = b"application/x-www-form-urlencoded"
LOGIN = b"/oic_rest/rest/jwtauthentication/authenticate"


def post(path, kind, body, *fields):
    return remotes.request(b"POST", path, None, body, *fields).replace(remotes.TYPE, kind)


def chunked(method, path, token, count, kind=remotes.TYPE):
    """A body of `count` bytes in chunks of 16 KiB, without a length."""
    head = remotes.request(method, path, token, None, b"content-type: " + kind, b"transfer-encoding: chunked")
    return head + (b"4000\r\n" + b"a" * 0x4000 + b"\r\n") * (count // 0x4000 + 1) + b"0\r\n\r\n"


def cases(token, remote):
    """Name, request, statuses that it may get. 0: the server closes the connection without an answer, which RFC 9112 allows
    for what is no request."""
    files, pack = remote.path + b"/files", remote.path + b"/%08x/%016x.pack" % (remote.device.number, 999)
    get = remotes.request(b"GET", files, token)
    form = b"grant_type=password&client_id=omvault"
    return [
        ("request line of rubbish", b"\0\1\2 rubbish\r\n\r\n", {400, 0}),
        ("request line without a version", b"GET /healthz\r\n\r\n", {400, 0}),
        ("a method that does not exist", get.replace(b"GET", b"BREW"), {400, 405, 0}),
        ("a method that no call has", get.replace(b"GET", b"DELETE"), {405}),
        ("start of a TLS connection", b"\x16\x03\x01\x02\0\1\0\1\xfc\3\3" + bytes(500), {400, 0}),
        ("preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 405, 0}),
        ("path of 2,000 bytes", get.replace(b"/files", b"/" + b"a" * 2000), {400, 404}),
        ("path with dots", get.replace(b"/files", b"/../files"), {400, 404}),
        ("field of 20 KiB", remotes.request(b"GET", files, token, None, b"x-large: " + b"a" * 20_480), {400, 431}),
        ("head of 1 MiB", remotes.request(b"GET", files, token, None, b"x-large: " + b"a" * (1 << 20)), {400, 431, 0}),
        ("1,001 fields", remotes.request(b"GET", files, token, None, *[b"x-%d: a" % n for n in range(1001)]), {400, 431}),
        ("101 fields", remotes.request(b"GET", files, token, None, *[b"x-%d: a" % n for n in range(101)]), {400, 431}),
        ("field with a NUL", get.replace(b"host: ", b"host: \0"), {400, 0}),
        ("two tokens", get.replace(b"\r\n\r\n", b"\r\nauthorization: Bearer b\r\n\r\n"), {400}),
        ("negative length", post(b"/oauth2/token", FORM, form).replace(b"length: ", b"length: -"), {400, 0}),
        ("two lengths", post(b"/oauth2/token", FORM, form, b"content-length: 5"), {400, 0}),
        ("length and chunks", post(b"/oauth2/token", FORM, form, b"transfer-encoding: chunked"), {400, 0}),
        ("chunk of a wrong size", chunked(b"POST", b"/oauth2/token", None, 0, FORM).replace(b"4000\r\n", b"zz\r\n"), {400, 0}),
        ("form of 65 KiB by its length", post(b"/oauth2/token", FORM, b"a" * 66_560), {413}),
        ("form of 65 KiB in chunks", chunked(b"POST", b"/oauth2/token", None, 66_560, FORM), {413}),
        ("pack of 5 MiB by its length", remotes.request(b"PUT", pack, token, bytes(5 << 20)), {413}),
        ("pack of 5 MiB in chunks", chunked(b"PUT", pack, token, 5 << 20), {413}),
        ("pack of 4 MiB without a token", remotes.request(b"PUT", pack, None, bytes(4 << 20)), {401}),
        ("pack of rubbish", remotes.request(b"PUT", pack, token, bytes(100)), {422}),
        ("pack of another type", post(pack, b"text/plain", b"a").replace(b"POST", b"PUT").replace(
            b"host", b"authorization: Bearer " + token + b"\r\nhost"), {415}),
        ("form with a broken escape", post(b"/oauth2/token", FORM, form + b"&username=%zz"), {400}),
        ("form that is not UTF-8", post(b"/oauth2/token", FORM, form + b"&username=%ff"), {400}),
        ("form with a name twice", post(b"/oauth2/token", FORM, form + b"&client_id=omvault"), {400}),
        ("form of no type", post(b"/oauth2/token", b"text/plain", form), {400, 415}),
        ("broken JSON", post(LOGIN, b"application/json", b'{"username":'), {400}),
        ("JSON that is no object", post(LOGIN, b"application/json", b'["username"]'), {400}),
        ("JSON with a name twice", post(LOGIN, b"application/json", b'{"username":"a","username":"b"}'), {400}),
        ("JSON 10,000 deep", post(LOGIN, b"application/json", b"[" * 10_000), {400}),
        ("no token", remotes.request(b"GET", files), {401}),
        ("a token of no one", remotes.request(b"GET", files, b"omva_" + b"a" * 43), {401}),
        ("a token of 8 KiB", remotes.request(b"GET", files, b"a" * 8192), {401}),
        ("an empty token", remotes.request(b"GET", files, b" "), {401}),
        ("a wait that is no number", get.replace(b"/files", b"/files?wait=-1"), {400}),
        ("what another account has", get.replace(remote.vault.hex().encode(), b"00" * 16), {404}),
    ]


def answered(port, request):
    """The status. 0: closed without an answer. None: neither within 20 seconds."""
    sock = clients.connect(port)
    sock.settimeout(20)
    answer = b""
    try:
        try:
            sock.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            pass  # The server may close before it has read all. What it answered is still there.
        while len(answer) < 12:
            more = sock.recv(65536)
            if not more:
                return 0
            answer += more
    except ConnectionResetError:
        return 0
    except TimeoutError:
        return None
    finally:
        sock.close()
    return int(answer[9:12]) if answer[9:12].isdigit() else None


def measure(server, owned, progress):
    """Name, status, and whether that is one of those that it may get."""
    token, found = server.log_in(owned[0].account), []
    for name, request, wanted in cases(token, owned[0]):
        progress(f"wrong requests: {name}")
        status = answered(server.port, request)
        found.append((name, status, status in wanted))
    found.append(("the server still answers", 200 if server.is_alive() else None, server.is_alive()))
    return found


def table(found):
    text = {0: "closed", None: "no answer"}
    return ["| request | answer |", "|---|---:|"] + [
        f"| {name} | {text.get(status, status)}{'' if is_right else ' **wrong**'} |" for name, status, is_right in found]
