"""An OAuth server whose tokens are bound to the client's key (RFC 9449). It verifies each proof with jwcrypto: signature, `typ`, `alg`,
`htm`, `htu`, `ath`, `iat`, a `jti` that counts once, its newest nonce, and the key of the token. `serve` runs it with FOLDER.

/token gives tokens for alice's password and for refresh tokens, /revoke takes any, and each other path is a resource. A path below
/plain answers as a server without such tokens, one below /endless asks for another nonce each time, /asks does too for any
token, and after /last the token
does not count any more."""
import base64, hashlib, http.server, itertools, json, pathlib, threading, time, urllib.parse
from jwcrypto import jwk, jws
from ports import hold

lock = threading.Lock()
serial = itertools.count(1)
nonce = None  # only this one counts
used, keys = set(), {}  # the identifiers of proofs, and the key's thumbprint of each token
SEEN = f"{FOLDER}/seen"


class Refused(Exception):
    """The error word of a proof that does not count."""


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, document, *fields):
        global nonce
        content = (json.dumps(document) + "\n").encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if status == 200 or "use_dpop_nonce" in str(document):
            nonce = f"n-{next(serial)}"
            self.send_header("DPoP-Nonce", nonce)
        for name, value in fields:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def proven(self, access=None):
        """The thumbprint of the key that the proof is of."""
        proofs = self.headers.get_all("DPoP") or []
        if len(proofs) != 1:
            raise Refused("invalid_dpop_proof")
        token = jws.JWS()
        token.deserialize(proofs[0])
        header = token.jose_header
        key = jwk.JWK(**header["jwk"])
        token.verify(key)
        claims = json.loads(token.payload)
        hashed = access and base64.urlsafe_b64encode(hashlib.sha256(access.encode()).digest()).decode().rstrip("=")
        if (header["typ"], header["alg"], set(header)) != ("dpop+jwt", "ES256", {"typ", "alg", "jwk"}) or "d" in header["jwk"] \
                or claims["htm"] != self.command or claims["htu"] != f"http://127.0.0.1:{port}{self.path.split('?')[0]}" \
                or claims.get("ath") != hashed or abs(claims["iat"] - time.time()) > 300 or claims["jti"] in used:
            raise Refused("invalid_dpop_proof")
        used.add(claims["jti"])
        if claims.get("nonce") != nonce or nonce is None or self.path.startswith("/endless"):
            raise Refused("use_dpop_nonce")
        return key.thumbprint()

    def token(self, form):
        if form["grant_type"] == "password":
            if (form["username"], form["password"]) != ("alice", "correct horse 42"):
                return self.answer(400, {"error": "invalid_grant"})
            name = None
        else:
            name = form["refresh_token"]
        try:
            key = None if self.path.startswith("/plain") else self.proven()
        except Refused as error:
            return self.answer(400, {"error": str(error)})
        if name and keys.get(name) != key:
            return self.answer(400, {"error": "invalid_grant"})
        number = next(serial)
        access, refresh = f"at-{number}", f"rt-{number}"
        keys[access] = keys[refresh] = key
        self.answer(200, {"access_token": access, "refresh_token": refresh, "expires_in": 3600,
                          "token_type": "Bearer" if key is None else "DPoP"})

    def resource(self, body):
        scheme, _, access = self.headers.get("Authorization", "").partition(" ")
        try:
            if self.path == "/asks":
                raise Refused("use_dpop_nonce")
            if scheme != "DPoP" or access not in keys or self.proven(access) != keys[access]:
                raise Refused("invalid_token")
        except Refused as error:
            return self.answer(401, {"error": str(error)}, ("WWW-Authenticate", f'DPoP error="{error}"'))
        if self.path == "/last":
            del keys[access]
        if self.path == "/moved":
            return self.answer(307, {}, ("Location", "/arrived?x=1"))
        self.answer(200, {"method": self.command, "path": self.path, "body": body, "sub": "alice"})

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        with lock:
            with open(SEEN, "a") as file:
                file.write(json.dumps([self.command, self.path, self.headers.get("Authorization"), body]) + "\n")
            if self.path.endswith("/token"):
                self.token(dict(urllib.parse.parse_qsl(body)))
            elif self.path == "/revoke":
                self.answer(200, {})
            else:
                self.resource(body)

    do_GET = do_POST = do_PUT = handle_one


server = http.server.ThreadingHTTPServer(("127.0.0.1", hold()), Service, bind_and_activate=False)
server.allow_reuse_address = True
server.server_bind()
server.server_activate()
port = server.server_address[1]
pathlib.Path(SEEN).write_text("")
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http={port}")
print(f"seen={SEEN}")
print("ready", flush=True)
threading.Event().wait()
