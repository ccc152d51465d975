"""What a day's work shows to others. `serve day` runs this file, with the folder in FOLDER.

It relays to two servers, at the ports `outer` and `second`: the files `outer.port` and `second.port` have the servers' own ports. The
bytes of each connection are in the folder `record`, one file for each direction.

A watcher reads the arguments and the environment of every process again and again, and keeps what is new: a line of JSON in the file
`watched`. `rounds` counts how often it has read all of them. `Tests/Servers/day_search.py` searches all of that.
"""
import itertools, json, os, pathlib, socket, threading, time

from ports import hold

RECORD = pathlib.Path(FOLDER, "record")
RECORD.mkdir()
numbers = itertools.count(1)


def copy(source, target, record):
    with open(record, "ab") as file:
        try:
            while data := source.recv(65536):
                file.write(data)
                file.flush()
                target.sendall(data)
        except OSError:
            pass
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def relay(name, port):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(64)
    while True:
        client = listener.accept()[0]
        try:
            server = socket.create_connection(("127.0.0.1", int(pathlib.Path(FOLDER, f"{name}.port").read_text())))
        except (OSError, ValueError):
            client.close()
            continue
        number = next(numbers)
        for way in (client, server, RECORD / f"{number}-up"), (server, client, RECORD / f"{number}-down"):
            threading.Thread(target=copy, args=way, daemon=True).start()


def watch():
    known = set()
    rounds = 0
    own = str(os.getpid())
    with open(f"{FOLDER}/watched", "w") as file:
        while True:
            for process in os.listdir("/proc"):
                if not process.isdigit() or process == own:
                    continue
                for name in "cmdline", "environ":
                    try:
                        with open(f"/proc/{process}/{name}", "rb") as seen:
                            content = seen.read()
                    except OSError:
                        continue
                    if content and (name, content) not in known:
                        known.add((name, content))
                        print(json.dumps([name, content.decode("latin-1")]), file=file)
            file.flush()
            rounds += 1
            pathlib.Path(FOLDER, "rounds.new").write_text(f"{rounds}\n")
            os.rename(f"{FOLDER}/rounds.new", f"{FOLDER}/rounds")
            time.sleep(0.01)


for name in "outer", "second":
    port = hold()
    threading.Thread(target=relay, args=(name, port), daemon=True).start()
    print(f"{name}={port}")
threading.Thread(target=watch, daemon=True).start()
print(f"day={FOLDER}")
print(f"search={HERE}/day_search.py")
print("ready", flush=True)
threading.Event().wait()
