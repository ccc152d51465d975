"""The programs of a run: omvault-server with its accounts, PostgreSQL's cluster, pgbench."""
import copy, ctypes, http.client, json, os, pathlib, re, shutil, signal, sqlite3, subprocess, sys, time, urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "Servers"))
import postgres

PASSWORD = "a long password"


def die_with_parent():
    os.setsid()  # Ctrl-C reaches this script alone, which then ends its programs in order.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Server:
    """omvault-server on loopback with a store of its own."""

    def __init__(self, program, folder, store, accounts):
        self.program, self.folder, self.log = program, f"{folder}/server", f"{folder}/log"
        os.mkdir(folder, 0o700)
        self.call("init", "--url", "http://127.0.0.1:8080", "--listen", "127.0.0.1:0", "--store", store)
        settings = json.loads(pathlib.Path(f"{self.folder}/settings.json").read_text())
        # All clients of this run have one address.
        settings["most_logins_of_address"] = 100_000
        pathlib.Path(f"{self.folder}/settings.json").write_text(json.dumps(settings))
        for name in accounts:
            self.call("user", "add", name, text=PASSWORD + "\n")
        self.start()

    def another(self, folder):
        """One more server with the same settings, and so the same store."""
        made = copy.copy(self)
        made.folder, made.log, made.tokens = f"{folder}/server", f"{folder}/log", {}
        os.mkdir(folder, 0o700)
        shutil.copytree(self.folder, made.folder)
        made.start()
        return made

    def start(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([self.program, "serve", "--data", self.folder], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=log, preexec_fn=die_with_parent)
        while True:
            found = re.search(r'"event":"listening","port":(\d+)', pathlib.Path(self.log).read_text())
            if found:
                break
            if self.process.poll() is not None:
                raise RuntimeError("omvault-server ended: " + pathlib.Path(self.log).read_text()[-2000:])
            time.sleep(0.02)
        self.port = int(found[1])
        self.tokens, self.is_gone = {}, False

    def call(self, *words, text=None):
        done = subprocess.run([self.program, *words, "--data", self.folder], input=text, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"omvault-server {words[0]}: {done.stderr[-2000:]}")

    def log_in(self, account):
        """A new token of 15 minutes."""
        form = {"grant_type": "password", "username": account, "password": PASSWORD, "client_id": "omvault", "scope": "sync",
                "device": "bench"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("POST", "/oauth2/token", urllib.parse.urlencode(form),
                           {"content-type": "application/x-www-form-urlencoded"})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"a login was answered with {answer.status}")
        self.tokens[account] = json.loads(body)["access_token"].encode()
        return self.tokens[account]

    def is_alive(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            connection.request("GET", "/healthz")
            status = connection.getresponse().status
            connection.close()
        except OSError:
            return False
        return status == 200 and self.process.poll() is None

    def memory(self):
        """KiB in memory now, and at most since the start."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return tuple(int(re.search(rf"{name}:\s*(\d+)", text)[1]) for name in ("VmRSS", "VmHWM"))

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def cluster(folder, clients):
    """PostgreSQL with its own settings: fsync and synchronous_commit are on. Two databases: of the server and of pgbench."""
    made = postgres.Cluster(folder)
    try:
        made.make().start()
        for name in ("omvault", "pgbench"):
            made.call("createdb", "--host", made.folder, "--username", postgres.USER, name)
        pgbench(made, "--initialize", "--quiet", "--scale", str(max(10, clients)))
    except BaseException:
        made.kill()
        made.wait()
        raise
    return made


def pgbench(made, *words):
    return made.call("pgbench", *words, "--host", made.folder, "--username", postgres.USER, "pgbench")


def postgres_commits(made, clients, seconds):
    """Commits a second: a transaction of pgbench's "simple update" changes a row, reads it, and adds a row."""
    said = pgbench(made, "--builtin", "simple-update", "--no-vacuum", "--client", str(clients), "--jobs", "2", "--time",
                   str(seconds))
    return float(re.search(r"tps = ([\d.]+)", said)[1])


def sqlite_commits(folder, seconds):
    """Commits a second of one writer in SQLite with the settings of the server's store. Each adds a row of 1 KiB."""
    file = sqlite3.connect(f"{folder}/commits.db", isolation_level=None)
    file.execute("PRAGMA journal_mode = WAL")
    file.execute("PRAGMA synchronous = FULL")
    file.execute("CREATE TABLE IF NOT EXISTS thing (id INTEGER PRIMARY KEY, body BLOB)")
    body, count = os.urandom(1024), 0
    # While the log grows, a commit takes longer. That of a server that runs has its size.
    for _ in range(500):
        file.execute("INSERT INTO thing (body) VALUES (?)", (body,))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        file.execute("INSERT INTO thing (body) VALUES (?)", (body,))
        count += 1
    file.close()
    return count / seconds
