#!/usr/bin/env python3
"""PostgreSQL clusters for tests. Each has its own folder and listens on a Unix socket in it, on no port.

usage: Tests/Servers/postgres.py sync|async: starts a primary and a standby that can take over. With `sync` a commit waits until
the standby has it on its disk; with `async` it does not wait. Prints the facts that a test needs as KEY=VALUE lines, and then
"ready". These lines on standard input are answered with "ready" too. It ends the clusters when its standard input ends.

  freeze     lets the standby get what is committed now, and stops its process that gets the changes
  waiting    prints waiting=: how many commits wait for the standby
  cancel     cancels each commit that waits for the standby, as an administrator can
  kill       kills the primary with all of its processes
  promote    makes the standby the primary. What it had received and not written is lost, as its process was stopped
"""
import ctypes, os, pathlib, pwd, shutil, signal, subprocess, sys, tempfile, time

USER = "omvault"  # the superuser of each cluster


def programs():
    """The folder of PostgreSQL's programs, which Debian does not put into PATH."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return str(found[-1].parent)
    initdb = shutil.which("initdb")
    if initdb is None:
        raise RuntimeError("PostgreSQL is not installed: .ci/setup tests")
    return os.path.dirname(os.path.realpath(initdb))


def identity():
    """PostgreSQL refuses to run as root. Then it runs as a user that owns nothing else here."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwuid(65534)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Cluster:
    """A cluster. `kill` and `wait` end it and remove its folder, as those of subprocess.Popen end a process."""

    def __init__(self, parent=None):
        self.folder = tempfile.mkdtemp(prefix="omvault-pg-", dir=parent)
        self.data = f"{self.folder}/data"
        self.log = f"{self.folder}/log"
        self.process = None
        who = identity()
        if who:
            os.chown(self.folder, who["user"], who["group"])

    def call(self, program, *words, text=None):
        done = subprocess.run([f"{programs()}/{program}", *words], input=text, capture_output=True, text=True, cwd=self.folder,
                              env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}, **identity())
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def make(self):
        self.call("initdb", "--pgdata", self.data, "--username", USER, "--auth", "trust", "--encoding", "UTF8", "--locale",
                  "C.UTF-8", "--no-sync", "--no-instructions")
        return self

    def start(self, **settings):
        """Starts it, and waits until it takes connections."""
        settings = {"listen_addresses": "", "unix_socket_directories": self.folder, "unix_socket_permissions": "0777",
                    "max_connections": "200", "deadlock_timeout": "100ms", "logging_collector": "off"} | settings
        who = identity()

        def prepare():
            os.setsid()
            if who:
                os.setgroups([])
                os.setgid(who["group"])
                os.setuid(who["user"])
            # An immediate stop if the parent dies. A change of the user would reset this.
            ctypes.CDLL(None).prctl(1, signal.SIGQUIT)

        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [f"{programs()}/postgres", "-D", self.data, *(f"--{name}={value}" for name, value in settings.items())],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, preexec_fn=prepare,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
        while True:
            if self.process.poll() is not None:
                raise RuntimeError("PostgreSQL ended: " + pathlib.Path(self.log).read_text()[-2000:])
            try:
                # The eighth line is the state: "ready" on a primary and on a standby that takes readers.
                if pathlib.Path(f"{self.data}/postmaster.pid").read_text().split("\n")[7].strip() == "ready":
                    return self
            except (OSError, IndexError):
                pass
            time.sleep(0.01)

    def url(self, database="postgres"):
        return f"postgres://{USER}@/{database}?host={self.folder}"

    def sql(self, text):
        """The columns of the result, with tabs between them and a line for each row."""
        return self.call("psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--field-separator", "\t", "--set",
                         "ON_ERROR_STOP=1", self.url(), text=text).strip()

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def wait(self):
        if self.process is not None:
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def served(folder):
    """For Tests/Servers/serve. No test of this cluster cuts the power, so nothing is synced to the disk."""
    cluster = Cluster(os.environ.get("TMPDIR"))
    try:
        cluster.make().start(fsync="off", full_page_writes="off")
    except BaseException:
        cluster.kill()
        cluster.wait()
        raise
    return cluster, {"folder": cluster.folder, "url": cluster.url(), "psql": f"{programs()}/psql"}


class Pair:
    """A primary and its standby. Both sync to the disk, as in production."""

    def __init__(self, is_sync):
        # Not in memory: a commit there costs nothing, and no two of them meet.
        self.primary, self.standby = Cluster("/var/tmp"), Cluster("/var/tmp")
        self.is_sync, self.frozen = is_sync, None

    def start(self):
        # The server does not follow an administrator who switches the wait off.
        self.primary.make().start(wal_level="replica", synchronous_commit="off")
        self.standby.call("pg_basebackup", "--pgdata", self.standby.data, "--write-recovery-conf", "--checkpoint", "fast",
                          "--dbname", f"host={self.primary.folder} user={USER} application_name=b")
        self.standby.start(wal_retrieve_retry_interval="100ms")
        self.until("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'", "1")
        if self.is_sync:
            self.primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (b)'")
            self.primary.sql("SELECT pg_reload_conf()")
            self.until("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'", "1")
        return self

    def until(self, statement, answer):
        while self.primary.sql(statement) != answer:
            time.sleep(0.02)

    def receiver(self):
        return int(self.standby.sql("SELECT pid FROM pg_stat_wal_receiver"))

    def freeze(self):
        now = self.primary.sql("SELECT pg_current_wal_lsn()")
        self.until(f"SELECT flush_lsn >= '{now}' FROM pg_stat_replication", "t")
        self.frozen = self.receiver()
        os.kill(self.frozen, signal.SIGSTOP)
        # A signal is sent and not awaited. What is acknowledged after this is not on the standby.
        while state(self.frozen) != "T":
            time.sleep(0.001)

    def waiting(self):
        print("waiting=" + self.primary.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"))

    def cancel(self):
        self.primary.sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")

    def kill(self):
        parent = self.primary.process.pid
        # Stopped first, so that it starts no further process. Each of its processes is in a group of its own.
        os.kill(parent, signal.SIGSTOP)
        for pid in children(parent) + [parent]:
            os.kill(pid, signal.SIGKILL)
        self.primary.process.wait()

    def promote(self):
        # The process is stopped, so nothing else ends it. The standby recovers from what is on its disk.
        self.thaw()
        while True:
            try:
                # A try whose answer was lost may have done it.
                if self.standby.sql("SELECT CASE WHEN pg_is_in_recovery() THEN pg_promote(true, 60) ELSE true END") == "t":
                    return
            except RuntimeError:
                pass  # it starts again
            time.sleep(0.05)

    def thaw(self):
        if self.frozen is not None:
            os.kill(self.frozen, signal.SIGKILL)
        self.frozen = None

    def end(self):
        # A stopped process would not let the standby end.
        self.thaw()
        for cluster in (self.primary, self.standby):
            cluster.kill()
        for cluster in (self.primary, self.standby):
            cluster.wait()


def state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def children(parent):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = pathlib.Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat[1]) == parent:
            found.append(int(name))
    return found


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("sync", "async"):
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    pair = Pair(sys.argv[1] == "sync")
    try:
        pair.start()
        print(f"primary={pair.primary.url()}\nstandby={pair.standby.url()}")
        print(f"both=postgres://{USER}@/postgres?host={pair.primary.folder},{pair.standby.folder}\nready", flush=True)
        for line in sys.stdin:
            words = {"freeze": pair.freeze, "waiting": pair.waiting, "cancel": pair.cancel, "kill": pair.kill,
                     "promote": pair.promote}
            words[line.strip()]()
            print("ready", flush=True)
    finally:
        pair.end()


if __name__ == "__main__":
    main()
