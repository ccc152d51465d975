"""git repositories over http that want a password: `git http-backend` of the machine's git. `serve` runs it with FOLDER. Each
repository in FOLDER/repositories wants the password in the file `password` there, of the user in the file `user`."""
import base64, http.server, os, pathlib, subprocess, threading
from ports import hold

REPOSITORIES = pathlib.Path(FOLDER, "repositories")
REPOSITORIES.mkdir()


class Service(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def is_right(self):
        kind, _, given = self.headers.get("Authorization", "").partition(" ")
        wanted = (REPOSITORIES / "user").read_text() + ":" + (REPOSITORIES / "password").read_text()
        return kind == "Basic" and base64.b64decode(given).decode() == wanted

    def do_GET(self):
        if not self.is_right():
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        length = int(self.headers.get("Content-Length", 0))
        variables = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(REPOSITORIES), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
            "QUERY_STRING": query, "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(length), "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_USER": "ada", "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
        }
        answer = subprocess.run(
            ["git", "http-backend"], input=self.rfile.read(length), stdout=subprocess.PIPE, env=variables).stdout
        head, _, body = answer.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        self.send_response(next((int(value.split()[0]) for name, value in fields if name == "Status"), 200))
        for name, value in fields:
            if name not in ("Status", "Content-Length"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET


server = http.server.ThreadingHTTPServer(("127.0.0.1", hold()), Service, bind_and_activate=False)
server.allow_reuse_address = True
server.server_bind()
server.server_activate()
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http={server.server_address[1]}")
print(f"repositories={REPOSITORIES}")
print("ready", flush=True)
threading.Event().wait()
