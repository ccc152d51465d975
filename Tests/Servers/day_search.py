"""usage: day_search.py DAY MARK SKIPPED ROOT…: where the secrets are that the servers saw, or that are in the folder DAY/secrets.

DAY is the folder of `serve day`. A file counts if it is below a ROOT, is not older than the file MARK and is in no folder of SKIPPED,
which are names with colons between them. Prints "KIND PLACE" for each find, sorted, and "KIND COUNT" of what was looked for on standard
error. With --memory PROCESS it prints how often a secret of each kind is in the memory of the process.

A file in DAY/secrets is a secret of the kind that its name says: each of its lines, also as hexadecimal digits and as base64; of a URI
of a one-time password the secret alone; of a private key its lines, and its bytes.

DAY/trace, if it is there, is what `strace -v -y -xx` wrote. It shows each argument and variable of each program, however short its
life, and what was written to files, also to those that are gone.
"""
import base64, json, os, pathlib, re, stat, sys, urllib.parse

MEMBERS = {"access_token": "access", "refresh_token": "refresh", "id_token": "id", "client_secret": "secret",
           "registration_access_token": "registration", "device_code": "device"}
FIELDS = {"refresh_token": "refresh", "client_secret": "secret", "client_assertion": "assertion", "assertion": "assertion",
          "subject_token": "subject", "code_verifier": "verifier", "device_code": "device"}


def needles(day):
    """The secrets of each kind, as bytes."""
    found = {}

    def add(kind, text):
        if len(text) >= 12:
            found.setdefault(kind, set()).add(text.encode())

    secrets = pathlib.Path(day, "secrets")
    for file in secrets.iterdir() if secrets.exists() else ():
        text = file.read_text()
        if text.startswith("-----"):
            lines = text.splitlines()[1:-1]
            key = base64.b64decode("".join(lines))
            # Ed25519: 32 bytes, which OpenSSH has before the public key, and PKCS#8 at its end.
            pair = re.search(rb"\0\0\0\x40(.{32})", key, re.S)
            found[file.name] = {pair[1] if pair else key[-32:]}
            # The first line of an OpenSSH key without a password is the same in all of them.
            for line in lines[1:] if pair else lines:
                add(file.name, line)
            continue
        for line in text.splitlines():
            secret = re.sub(r"^otpauth:.*[?&]secret=([A-Z2-7]+).*", r"\1", line)
            add(file.name, secret)
            add(file.name, secret.encode().hex())
            # The last characters of base64 depend on what follows.
            add(file.name, base64.b64encode(secret.encode()).decode()[: len(secret) // 3 * 4])
    for record in pathlib.Path(day, "record").iterdir():
        text = record.read_bytes().decode("latin-1")
        if record.name.endswith("-down"):
            for name, value in re.findall(r'"([a-z_]+)" *: *"([^"\\]+)"', text):
                if name in MEMBERS:
                    add(MEMBERS[name], value)
            continue
        for name, value in re.findall(r"(?:^|[&\n])([a-z_]+)=([^&\s]*)", text):
            if name in FIELDS:
                add(FIELDS[name], urllib.parse.unquote_plus(value))
        for scheme, value in re.findall(r"(?im)^authorization: *(\w+) +(\S+)\r$", text):
            if scheme.lower() == "basic":
                add("basic", value)
                add("secret", urllib.parse.unquote_plus(base64.b64decode(value).decode().partition(":")[2]))
        for value in re.findall(r"(?im)^dpop: *(\S+)\r$", text):
            add("proof", value)
    return found


def in_files(day, mark, skipped, roots, found):
    since = os.stat(mark).st_mtime_ns
    places = set()
    # The home may be below another root.
    home = os.path.realpath(roots[0])
    for root in roots:
        for folder, folders, names in os.walk(root):
            paths = {name: os.path.realpath(os.path.join(folder, name)) for name in folders}
            folders[:] = [name for name in folders if name not in skipped and paths[name] not in (day, home)]
            for name in names:
                path = os.path.join(folder, name)
                try:
                    status = os.lstat(path)
                    if not stat.S_ISREG(status.st_mode) or status.st_mtime_ns < since or status.st_size > 64 << 20:
                        continue
                    with open(path, "rb") as file:
                        content = file.read()
                except OSError:
                    continue
                for kind, values in found.items():
                    if any(value in content for value in values):
                        # A name that differs from run to run is cut.
                        places.add(f"{kind} {os.path.relpath(path, root) if root == roots[0] else root}")
    return places


def in_calls(trace, skipped, root, found):
    """The secrets in the system calls: what programs were started with, and what was written to files. A path is from `root` on."""
    places = set()
    digits = {kind: ["".join(f"\\x{byte:02x}" for byte in value) for value in values] for kind, values in found.items()}

    def kinds(text):
        return {kind for kind, values in digits.items() if any(value in text for value in values)}

    def shown(path):
        return os.path.relpath(path, root) if path.startswith(root) else path

    def is_file(path):
        return re.match(r"/(?!memfd:|proc/|dev/(?!shm/))", path) and not set(path.split("/")) & skipped

    for line in open(trace):
        call = re.match(r"(?:\d+ +)?(\w+)\(", line)
        paths = [bytes.fromhex(path.replace("\\x", "")).decode("latin-1") for path in re.findall(r"\d<((?:\\x..)+)>", line)]
        name = call[1] if call else ""
        if name == "execve":
            path = re.search(r'"((?:\\x..)+)"', line)
            program = os.path.basename(bytes.fromhex(path[1].replace("\\x", "")).decode("latin-1"))
            arguments, _, variables = line.partition("], [")
            places |= {f"{kind} argument {program}" for kind in kinds(arguments)}
            places |= {f"{kind} variable {program}" for kind in kinds(variables)}
        elif name in ("copy_file_range", "sendfile"):
            # A copy of a file of secrets.
            source, target = paths[:2] if name == "copy_file_range" else paths[1::-1]
            if "secrets" in source.split("/") and is_file(target):
                places.add(f"{os.path.basename(source)} written {shown(target)}")
        elif paths and is_file(paths[0]):
            places |= {f"{kind} written {shown(paths[0])}" for kind in kinds(line)}
    return places


def main():
    if sys.argv[1] == "--memory":
        day, process = sys.argv[2:]
        found, counts = needles(day), {}
        with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
            for line in open(f"/proc/{process}/maps"):
                bounds, mode, *_ = line.split()
                if not mode.startswith("r") or "[v" in line:
                    continue
                start, end = (int(number, 16) for number in bounds.split("-"))
                try:
                    memory.seek(start)
                    content = memory.read(end - start)
                except (OSError, OverflowError, ValueError):
                    continue
                for kind, values in found.items():
                    counts[kind] = counts.get(kind, 0) + sum(content.count(value) for value in values)
        print(" ".join(sorted(kind for kind, count in counts.items() if count)) or "none")
        return
    day, mark, skipped, *roots = sys.argv[1:]
    found = needles(day)
    places = in_files(os.path.realpath(day), mark, skipped.split(":"), roots, found)
    for line in open(f"{day}/watched"):
        name, content = json.loads(line)
        content = content.encode("latin-1")
        places |= {f"{kind} /proc {name}" for kind, values in found.items() if any(value in content for value in values)}
    trace = pathlib.Path(day, "trace")
    if trace.exists():
        places |= in_calls(trace, set(skipped.split(":")), os.path.realpath(roots[0]), found)
    log = pathlib.Path(day, "log")
    if log.exists():
        content = log.read_bytes()
        places |= {f"{kind} /dev/log" for kind, values in found.items() if any(value in content for value in values)}
    for place in sorted(places):
        print(place)
    for kind in sorted(found):
        print(kind, len(found[kind]), file=sys.stderr)


main()
