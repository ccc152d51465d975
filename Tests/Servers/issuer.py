"""An OpenID provider that takes any port of a loopback redirect, turns its refresh tokens over, and ends a family whose spent
token comes again. Its key set names no algorithm. `serve` runs it with FOLDER, at two ports: each is an issuer of its own.

The parameter `user` of the page is the user who is there; the browser adds it. All users have the e-mail address
ada@example.org, and each has a subject. The file `life` has the seconds that an access token lives. The document below
/lies/TEXT names the address as its page that TEXT is in base64url.
"""
import base64, hashlib, http.server, json, pathlib, secrets, threading, time, urllib.parse
from jwcrypto import jwk, jws
from ports import hold

key = jwk.JWK.generate(kty="EC", crv="P-256", kid="one")
lock = threading.Lock()
codes, refreshes, accesses = {}, {}, {}
dead = set()  # the users whose family ended
counts = {"document": 0, "code": 0, "refresh": 0, "reused": 0, "unauthorized": 0}


def signed(claims):
    token = jws.JWS(json.dumps(claims))
    token.add_signature(key, protected=json.dumps({"alg": "ES256", "kid": "one"}))
    return token.serialize(compact=True)


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, document, *fields):
        content = json.dumps(document).encode()
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(content))), *fields):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    @property
    def base(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def user(self):
        """The user of a live access token, or nothing."""
        with lock:
            user, end, at = accesses.get(self.headers.get("Authorization", "").removeprefix("Bearer "), (None, 0, None))
            if user in dead or end < time.monotonic() or at != self.base:
                counts["unauthorized"] += 1
                return None
            return user

    def do_GET(self):
        path, _, query = self.path.partition("?")
        asked, base, end = dict(urllib.parse.parse_qsl(query)), self.base, "/.well-known/openid-configuration"
        if path.endswith(end):
            with lock:
                counts["document"] += 1
            issuer, page = base + path.removesuffix(end), base + "/authorize"
            if path.startswith("/lies/"):
                page = base64.urlsafe_b64decode(path.removesuffix(end).removeprefix("/lies/")).decode()
            return self.send(200, {
                "issuer": issuer, "authorization_endpoint": page, "token_endpoint": base + "/token",
                "revocation_endpoint": base + "/revoke", "jwks_uri": base + "/keys", "userinfo_endpoint": base + "/user",
                "response_types_supported": ["code"], "id_token_signing_alg_values_supported": ["ES256"],
                "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
                "authorization_response_iss_parameter_supported": True})
        if path == "/keys":
            return self.send(200, {"keys": [json.loads(key.export_public())]})
        if path == "/counts":
            with lock:
                return self.send(200, counts)
        if path == "/authorize":
            redirect = urllib.parse.urlsplit(asked["redirect_uri"])
            if redirect.hostname != "127.0.0.1" or redirect.path != "/cb" or asked["code_challenge_method"] != "S256":
                return self.send(400, {})
            code = secrets.token_urlsafe(24)
            with lock:
                codes[code] = asked
            back = urllib.parse.urlencode({"code": code, "state": asked["state"], "iss": base})
            return self.send(302, {}, ("Location", f"{asked['redirect_uri']}?{back}"))
        user = self.user()
        if user is None:
            return self.send(401, {}, ("WWW-Authenticate", 'Bearer error="invalid_token"'))
        self.send(200, self.claims(user))

    def claims(self, user):
        return {"sub": user, "email": "ada@example.org", "email_verified": True}

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = dict(urllib.parse.parse_qsl(body, strict_parsing=True))
        if self.path == "/revoke":
            return self.send(200, {})
        grant, nonce = form.get("grant_type"), None
        with lock:
            if grant == "authorization_code":
                proof = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
                asked = codes.get(form.get("code"))
                if (not asked or asked["code_challenge"] != proof.decode().rstrip("=")
                        or asked["redirect_uri"] != form.get("redirect_uri") or asked["client_id"] != form.get("client_id")):
                    return self.send(400, {"error": "invalid_grant"})
                del codes[form["code"]]
                user, nonce = asked.get("user", "ada"), asked["nonce"]
                counts["code"] += 1
            elif grant == "refresh_token":
                user, spent = refreshes.get(form.get("refresh_token"), (None, True))
                if spent or user in dead:
                    counts["reused"] += 1
                    dead.add(user)
                    return self.send(400, {"error": "invalid_grant"})
                refreshes[form["refresh_token"]] = (user, True)
                counts["refresh"] += 1
            else:
                return self.send(400, {"error": "unsupported_grant_type"})
            access, refresh = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
            life = int(pathlib.Path(FOLDER, "life").read_text())
            accesses[access], refreshes[refresh] = (user, time.monotonic() + life, self.base), (user, False)
        now = int(time.time())
        answer = {"access_token": access, "refresh_token": refresh, "token_type": "bearer", "expires_in": life, "scope": "openid"}
        if nonce:
            answer["id_token"] = signed({"iss": self.base, "aud": form["client_id"], "exp": now + 300, "iat": now, "nonce": nonce,
                                         **self.claims(user)})
        self.send(200, answer)


pathlib.Path(FOLDER, "life").write_text("3600")
for name in ("issuer", "other"):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", hold()), Provider, bind_and_activate=False)
    server.allow_reuse_address, server.request_queue_size = True, 128
    server.server_bind()
    server.server_activate()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{name}=http://127.0.0.1:{server.server_address[1]}")
print(f"life={FOLDER}/life")
print("ready", flush=True)
threading.Event().wait()
