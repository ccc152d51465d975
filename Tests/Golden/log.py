#!/usr/bin/env python3
"""Prints the audit log, one entry a line, with the members that every release has."""

import json
import subprocess

ran = subprocess.run(["omvault", "log", "ls", "--json"], capture_output=True, check=True)
log = json.loads(ran.stdout)
for entry in log["entries"]:
    print(json.dumps(entry, sort_keys=True))
print(json.dumps(["broken_at", log["broken_at"]]))
