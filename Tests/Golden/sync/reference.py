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
    out += bytes([v["type"]]) + struct.pack(">q", v["expires"]) + bytes([len(v["tags"])])
    out += b"".join(counted(tag.encode()) for tag in v["tags"])
    out += struct.pack(">H", len(v["fields"]))
    for name in sorted(v["fields"], key=str.encode):
        field = v["fields"][name]
        out += bytes([field["shown"]]) + counted(name.encode()) + bytes.fromhex(field["hash"])
    return out


def includes(one, other):
    counts = dict(map(tuple, one))
    return all(counts.get(device, 0) >= count for device, count in other)


def join(one, other):
    counts = dict(map(tuple, one))
    for device, count in other:
        counts[device] = max(count, counts.get(device, 0))
    return [list(pair) for pair in sorted(counts.items())]


def may_change(v, h):
    return v["level"] >= h["level"] or any(
        lowering["from"] == h["level"] and includes(lowering["seen"], h["seen"]) for lowering in v["lowerings"])


def is_earlier(one, other):
    replaced, replaces = includes(other["seen"], [one["dot"]]), includes(one["seen"], [other["dot"]])
    if replaced != replaces:
        return replaced
    return order(one) < order(other)


def order(v):
    return STATES[v["state"]], v["time"], v["dot"], summary(v)


def stored_seen(seen):
    return struct.pack(">H", len(seen)) + b"".join(struct.pack(">IQ", *dot) for dot in seen)


def plain(name):
    found = re.fullmatch(r"conflict-(?:[0-9a-f]{8}|[0-9a-f]{16}|[0-9a-f]{32}) (.+)", name or "")
    return found[1] if found else name


def cut(name):
    data = name.encode()
    end = min(len(data), 255)
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end].decode()


def copy(l, w, item, link):
    if l["state"] == "purged":
        return None
    if all(w["fields"].get(name) == field for name, field in l["fields"].items()):
        if STATES[w["state"]] > STATES[l["state"]]:
            return None
        parts = [(v["state"], v["type"], v["expires"], v["tags"], plain(v.get("name"))) for v in (l, w)]
        if parts[0] == parts[1]:
            return None
    made = dict(l, level=w["level"], lowerings=[], origin=l.get("origin") or item.hex())
    causes = stored_seen(l["seen"]) + summary(made)
    ident = hashlib.blake2b(context("omv/sync/copy", item) + causes, key=link, digest_size=32).digest()[:16]
    made["name"] = cut(f"conflict-{ident[:4].hex()} {plain(l['name'])}")
    return {"id": ident.hex(), "version": made}


def merge(item, x, y, link):
    s, t = (x, y) if x["level"] >= y["level"] else (y, x)
    if not may_change(t, s):
        return s, None if includes(s["seen"], t["seen"]) else copy(t, s, item, link)
    ahead, behind = includes(x["seen"], y["seen"]), includes(y["seen"], x["seen"])
    if ahead != behind:
        newer, older = (x, y) if ahead else (y, x)
        return keeping_lowerings(newer, older, newer["level"]), None
    l, w = (x, y) if is_earlier(x, y) else (y, x)
    joined = dict(
        keeping_lowerings(w, l, max(x["level"], y["level"])), seen=join(x["seen"], y["seen"]),
        created=min(x["created"], y["created"]))
    return joined, None if includes(w["seen"], [l["dot"]]) else copy(l, joined, item, link)


def keeping_lowerings(v, other, level):
    covered = {}
    for lowering in v["lowerings"] + other["lowerings"]:
        if lowering["from"] > level:
            covered[lowering["from"]] = join(covered.get(lowering["from"], []), lowering["seen"])
    return dict(
        v, level=level, lowerings=[{"from": start, "seen": covered[start]} for start in sorted(covered, reverse=True)])


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
