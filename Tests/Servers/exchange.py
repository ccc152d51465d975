"""An authorization server that exchanges tokens (RFC 8693) and takes JWT assertions (RFC 7523). It verifies each signature, issuer,
audience and time. `serve` runs it with FOLDER: the files NAME.jwt there are tokens of its trusted issuer, or almost.

The client `robot` has the public key in robot.pem, which a test writes, and needs no other proof if it asserts who it is.
Each token counts once as an assertion. An access token is a JWT whose `aud` and `scope` are those that were asked for."""
import base64, http.server, json, pathlib, threading, time, urllib.parse, uuid
from jwcrypto import jwk, jws
from ports import hold

ISSUER = "https://issuer.example"
# A text that is nowhere else, since tests search for it.
CLIENT, ROBOT, SECRET = "omvault", "robot", f"secret-{uuid.uuid4()}"
trusted, stranger, own = (jwk.JWK.generate(kty="EC", crv="P-256") for _ in range(3))
lock = threading.Lock()
used = set()
life = 3600
SEEN = f"{FOLDER}/seen"


def signed(key, **claims):
    token = jws.JWS(json.dumps(claims))
    token.add_signature(key, protected=json.dumps({"alg": "ES256"}))
    return token.serialize(compact=True)


def claims(text, key, audience):
    """The claims of a valid token. Raises an exception for every other text."""
    token = jws.JWS()
    token.deserialize(text, key)
    given = json.loads(token.payload)
    assert given["iss"] == ISSUER and given["aud"] == audience and given["exp"] > time.time()
    return given


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, document):
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        """The user of an access token."""
        if self.path != "/user":
            return self.send(404, {})
        token = jws.JWS()
        token.deserialize(self.headers["Authorization"].removeprefix("Bearer "), own)
        self.send(200, {"sub": json.loads(token.payload)["sub"]})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with lock, open(SEEN, "a") as file:
            file.write(json.dumps([self.path, dict(self.headers), body]) + "\n")
        form = dict(urllib.parse.parse_qsl(body, strict_parsing=True))
        if self.path == "/revoke":
            return self.send(200, {})
        if form.get("client_id") == ROBOT:
            return self.robot(form)
        proof = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if self.headers["Authorization"] != proof:
            return self.send(401, {"error": "invalid_client"})
        audience = f"http://127.0.0.1:{port}/token"
        grant = form.get("grant_type", "").removeprefix("urn:ietf:params:oauth:grant-type:")
        try:
            if grant == "jwt-bearer":
                given = claims(form["assertion"], trusted, audience)
                with lock:
                    assert given["jti"] not in used
                    used.add(given["jti"])
            elif grant == "token-exchange":
                given = claims(form["subject_token"], trusted, audience)
                assert form["subject_token_type"] == "urn:ietf:params:oauth:token-type:jwt"
                if "actor_token" in form:
                    given["act"] = {"sub": claims(form["actor_token"], trusted, audience)["sub"]}
            else:
                return self.send(400, {"error": "unsupported_grant_type"})
        except Exception:
            return self.send(400, {"error": "invalid_grant", "error_description": "not taken"})
        if form.get("audience", "calendar") != "calendar":
            return self.send(400, {"error": "invalid_target"})
        scopes = form.get("scope", "read").split(" ")
        access = signed(own, sub=given["sub"], aud=form.get("audience"), scope=scopes, act=given.get("act"),
                        jti=str(uuid.uuid4()))
        answer = {"access_token": access, "token_type": "Bearer", "expires_in": life, "scope": scopes}
        if grant == "token-exchange":
            answer["issued_token_type"] = "urn:ietf:params:oauth:token-type:access_token"
        self.send(200, answer)


    def robot(self, form):
        """The answer to a client that asserts who it is, and may prove itself with another assertion of the same form."""
        try:
            key = jwk.JWK.from_pem(pathlib.Path(f"{FOLDER}/robot.pem").read_bytes())
            assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
            for name in "assertion", "client_assertion":
                if name == "client_assertion" and name not in form:
                    continue
                token = jws.JWS()
                token.deserialize(form[name], key)
                given, now = json.loads(token.payload), time.time()
                assert set(given) == {"iss", "sub", "aud", "iat", "exp", "jti"} and given["iss"] == given["sub"] == ROBOT
                assert given["aud"] == ISSUER and given["exp"] - given["iat"] == 300 and now - 60 < given["iat"] <= now
                with lock:
                    assert given["jti"] not in used
                    used.add(given["jti"])
        except Exception:
            return self.send(400, {"error": "invalid_grant"})
        access = signed(own, sub=ROBOT, aud=None, act=None, scope=form.get("scope", "read").split(" "), jti=str(uuid.uuid4()))
        self.send(200, {"access_token": access, "token_type": "Bearer", "expires_in": life})


server = http.server.ThreadingHTTPServer(("127.0.0.1", hold()), Service, bind_and_activate=False)
server.allow_reuse_address = True
server.server_bind()
server.server_activate()
port = server.server_address[1]


def put(name, key, **changes):
    standard = {"iss": ISSUER, "aud": f"http://127.0.0.1:{port}/token", "sub": "alice", "exp": int(time.time()) + 86400,
                "jti": str(uuid.uuid4())}
    pathlib.Path(f"{FOLDER}/{name}.jwt").write_text(signed(key, **{**standard, **changes}) + "\n")


put("good", trusted)
put("other", trusted)
put("robot", trusted, sub="robot")
put("expired", trusted, exp=int(time.time()) - 1)
put("audience", trusted, aud="https://elsewhere.example/token")
put("foreign", stranger)
pathlib.Path(SEEN).write_text("")
pathlib.Path(f"{FOLDER}/secret").write_text(SECRET)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http={port}")
print(f"tokens={FOLDER}")
print(f"seen={SEEN}")
print("ready", flush=True)
threading.Event().wait()
