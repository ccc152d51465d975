#!/usr/bin/env python3
"""usage: contents.py [OPTION…]

Prints all that a vault holds, one fact a line, sorted: items with their levels, versions and times, and every value of
every version. OPTION… go to each omvault that is asked. `make` records this for the golden vaults; the test compares it.
With --value ITEM REVISION FIELD FILE it prints the one fact of a value.
"""

import base64
import hashlib
import json
import subprocess
import sys


def ask(*words):
    ran = subprocess.run(["omvault", *words, "--json", "--no-input", *sys.argv[1:]], capture_output=True)
    if ran.returncode != 0:
        sys.exit(f"omvault {' '.join(words)}: exit {ran.returncode}: {ran.stderr.decode().strip()}")
    return json.loads(ran.stdout)


def bytes_of(value):
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value.encode()


def written(value):
    """A value as a fact: base64, or its digest above 64 KiB."""
    return base64.b64encode(value).decode() if len(value) <= 1 << 16 else "sha256 " + hashlib.sha256(value).hexdigest()


def length(about):
    return about["len"] if isinstance(about, dict) else len(about.encode())


if sys.argv[1:2] == ["--value"]:
    item, revision, field, path = sys.argv[2:]
    with open(path, "rb") as file:
        print(json.dumps(["value", item, int(revision), field, written(file.read())], ensure_ascii=False))
    sys.exit()

facts = []
for state, words in ("live", []), ("trash", ["--trash"]):
    for item in ask("ls", *words)["items"]:
        name = item["name"]
        facts.append(["item", name, state, item["id"], item["level"], item["revision"], item["created"], item["modified"]])
        reference = f'"{name}"' if ":" in name else name
        # What an item of format 1 cannot have.
        details = {key: item[key] for key in ("type", "tags", "expires") if item.get(key)}
        if state == "live":
            shown = ask("show", reference)["fields"]
            details |= {"shown " + field: value for field, value in shown.items() if isinstance(value, str)}
        if details:
            facts.append(["details", name, state, details])
        for version in ask("history", reference)["versions"]:
            lengths = sorted((field, length(about)) for field, about in version["fields"].items())
            facts.append(["version", name, version["revision"], version["state"], version["modified"], lengths])
            if state == "live":
                shown = ask("get", reference, "--rev", str(version["revision"]), "--reveal")
                for field, value in shown["fields"].items():
                    facts.append(["value", name, version["revision"], field, written(bytes_of(value))])
report = ask("verify", "--deep")
facts.append(["whole", report["whole"], report["items"], report["trashed"], report["tombstones"], report["versions"]])
for line in sorted(json.dumps(fact, ensure_ascii=False) for fact in facts):
    print(line)
