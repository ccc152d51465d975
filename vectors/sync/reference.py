#!/usr/bin/env python3
"""The merge of docs/formats/sync.md, written from the page alone: usage: reference.py merge.json"""
import hashlib
import json
import re
import struct
import sys

STATES = {"purged": 0, "trashed": 1, "live": 2}


def context(label, item=None):
    text = label.encode()
    return bytes([len(text)]) + text + (b"\1" + struct.pack(">Q", len(item)) + item if item is not None else b"")


def counted(data):
    return struct.pack(">H", len(data)) + data


def summary(v):
    out = bytes([STATES[v["state"]]]) + struct.pack(">q", v["time"]) + struct.pack(">IQ", *v["dot"])
    out += counted((v.get("name") or "").encode()) + counted(bytes.fromhex(v.get("origin") or ""))
    out += bytes([0]) + struct.pack(">q", 0) + bytes([len(v["tags"])])
    out += b"".join(counted(tag.encode()) for tag in v["tags"])
    out += struct.pack(">H", len(v["fields"]))
    for name in sorted(v["fields"], key=str.encode):
        field = v["fields"][name]
        out += bytes([field["shown"]]) + counted(name.encode()) + bytes.fromhex(field["hash"])
    return out


def later(v):
    """The key of the order of versions."""
    return STATES[v["state"]], v["time"], v["dot"], summary(v)


def includes(one, other):
    counts = dict(map(tuple, one))
    return all(counts.get(device, 0) >= count for device, count in other)


def join(one, other):
    counts = dict(map(tuple, one))
    for device, count in other:
        counts[device] = max(count, counts.get(device, 0))
    return [list(pair) for pair in sorted(counts.items())]


def may_change(v, h):
    level = h["level"]
    for proof in v["proofs"]:
        right = set(bytes.fromhex(proof["mac"])) == {1}
        if proof["from"] >= level > v["level"] and proof["to"] < level and right:
            if includes(proof["seen"], h["seen"]) and includes(v["seen"], proof["seen"]):
                level = proof["to"]
    return level <= v["level"]


def stored_proof(proof):
    head = struct.pack(">IQBBI", *proof["dot"], proof["from"], proof["to"], proof["epoch"])
    return head + stored_seen(proof["seen"]) + bytes.fromhex(proof["mac"])


def stored_seen(seen):
    return struct.pack(">H", len(seen)) + b"".join(struct.pack(">IQ", *dot) for dot in seen)


def plain(name):
    found = re.fullmatch(r"conflict-(?:[0-9a-f]{8}|[0-9a-f]{16}|[0-9a-f]{32}) (.+)", name or "")
    return found[1] if found else name


def copy(l, w, item, link):
    if l["state"] == "purged":
        return None
    kept = all(w["fields"].get(name) == field for name, field in l["fields"].items())
    if kept and (l["state"] != w["state"] or (l["tags"] == w["tags"] and plain(l["name"]) == plain(w["name"]))):
        return None
    made = dict(l, level=w["level"], strictest=w["level"], proofs=[], origin=l.get("origin") or item.hex())
    causes = stored_seen(l["seen"]) + summary(made)
    ident = hashlib.blake2b(context("omv/sync/copy", item) + causes, key=link, digest_size=32).digest()[:16]
    made["name"] = f"conflict-{ident[:4].hex()} {plain(l['name'])}"
    return {"id": ident.hex(), "version": made}


def merge(item, x, y, link):
    s, t = (x, y) if x["level"] >= y["level"] else (y, x)
    if not may_change(t, s):
        return s, None if includes(s["seen"], t["seen"]) else copy(t, s, item, link)
    if x["seen"] != y["seen"]:
        if includes(x["seen"], y["seen"]):
            return x, None
        if includes(y["seen"], x["seen"]):
            return y, None
    w, l = (x, y) if later(x) >= later(y) else (y, x)
    level = max(x["level"], y["level"])
    newest = {}
    for proof in x["proofs"] + y["proofs"]:
        old = newest.get(proof["from"])
        if proof["from"] > level and (old is None or stored_proof(old) < stored_proof(proof)):
            newest[proof["from"]] = proof
    joined = dict(
        w, seen=join(x["seen"], y["seen"]), created=min(x["created"], y["created"]), level=level,
        strictest=max(x["strictest"], y["strictest"]), proofs=[newest[level] for level in sorted(newest, reverse=True)])
    return joined, copy(l, joined, item, link)


def main(path):
    with open(path, encoding="utf-8") as file:
        stored = json.load(file)
    link, wrong = bytes.fromhex(stored["link"]), 0
    for number, case in enumerate(stored["cases"]):
        for one, other in ((case["x"], case["y"]), (case["y"], case["x"])):
            if merge(bytes.fromhex(case["id"]), one, other, link) != (case["version"], case.get("copy")):
                print(f"case {number} differs")
                wrong += 1
    print(f"{len(stored['cases'])} cases, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1]))
