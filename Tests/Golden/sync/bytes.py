#!/usr/bin/env python3
"""The keys, seals and signatures of docs/formats/sync.md, written from the page alone.

usage: bytes.py > bytes.json              every byte string of the page
       bytes.py --remote FOLDER           makes a remote in the folder, and prints the recovery code of its vault
       bytes.py --later-remote FOLDER     the same, whose newest head names an entry of a later omvault

XChaCha20 is from the draft, the rest of the mathematics is that of Python's cryptography package and hashlib.
"""
import hashlib
import hmac
import json
import os
import struct
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

RAW = (Encoding.Raw, PublicFormat.Raw)


# What docs/formats/vault-format.md defines.

LABELS = set()


def context(label, *fields):
    LABELS.add(label)
    text = label.encode()
    out = bytes([len(text)]) + text
    for field in fields:
        out += b"\2" + u64(field) if isinstance(field, int) else b"\1" + u64(len(field)) + field
    return out


def u8(number): return struct.pack(">B", number)
def u16(number): return struct.pack(">H", number)
def u32(number): return struct.pack(">I", number)
def u64(number): return struct.pack(">Q", number)


def hkdf(key, info):
    return mac(mac(bytes(32), key), info + b"\1")


def mac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def digest(message, size=32):
    return hashlib.blake2b(message, digest_size=size).digest()


def keyed(key, message):
    return hashlib.blake2b(message, key=key, digest_size=32).digest()


def box(key, nonce, plaintext, associated):
    words = list(struct.unpack("<16I", b"expand 32-byte k" + key + nonce[:16]))
    for _ in range(10):
        for place in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                      (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            quarter(words, *place)
    inner = struct.pack("<8I", *words[:4], *words[12:])
    return nonce + ChaCha20Poly1305(inner).encrypt(bytes(4) + nonce[16:], plaintext, associated)


def quarter(x, a, b, c, d):
    for one, other, target, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        x[one] = (x[one] + x[other]) & 0xFFFFFFFF
        turned = x[target] ^ x[one]
        x[target] = (turned << bits | turned >> 32 - bits) & 0xFFFFFFFF


def padded(data, step=256):
    return data + bytes(-len(data) % step)


# Keys and members.

class Device:
    """A device whose device key, root key and class key of when-unlocked are bytes of one value each, from `first` on."""

    def __init__(self, vault, first, name):
        key, root, unlocked = (bytes([first + index]) * 32 for index in range(3))
        salt = bytes([first + 3]) * 16
        self.name = name
        self.head = hkdf(key, context("omv/sync/head-key", vault, salt))
        self.member = hkdf(root, context("omv/sync/member-key", vault, salt))
        self.wrapping = hkdf(unlocked, context("omv/sync/wrapping-key", vault, salt))
        self.always = hkdf(key, context("omv/sync/wrapping-always", vault, salt))
        self.keys = signing(self.head) + signing(self.member) + agreeing(self.wrapping) + agreeing(self.always)
        self.number = number_of(vault, self.keys)
        self.kind = 1


class Recovery:
    def __init__(self, vault, code):
        self.name = "recovery code"
        self.member, self.wrapping, self.always = (
            hkdf(code, context("omv/sync/recovery", vault, n)) for n in (1, 2, 3))
        self.keys = bytes(32) + signing(self.member) + agreeing(self.wrapping) + agreeing(self.always)
        self.number = number_of(vault, self.keys)
        self.kind = 2


def signing(seed): return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes(*RAW)
def agreeing(key): return X25519PrivateKey.from_private_bytes(key).public_key().public_bytes(*RAW)
def sign(seed, signed): return Ed25519PrivateKey.from_private_bytes(seed).sign(signed)
def number_of(vault, keys): return struct.unpack(">I", digest(context("omv/sync/device", vault) + keys)[:4])[0]


# The roll.

def member_bytes(vault, link, member, nonce):
    where = context("omv/sync/device-name", vault, member.number)
    name = u8(len(member.name.encode())) + member.name.encode()
    sealed = box(hkdf(link, where), nonce, name + bytes(64 - len(name)), where)
    return u32(member.number) + u8(member.kind) + member.keys + sealed


def wrap(vault, entry, member, kind, epoch, content, once, nonce):
    sender, owner = agreeing(once), agreeing(member.wrapping if kind == 1 else member.always)
    secret = X25519PrivateKey.from_private_bytes(once).exchange(X25519PublicKey.from_public_bytes(owner))
    where = context("omv/sync/wrap", vault, entry, member.number, kind, epoch, sender, owner)
    return u32(member.number) + u8(kind) + u32(epoch) + sender + box(hkdf(secret, where), nonce, content, where)


def entry(vault, kind, number, previous, signer, time, epoch, added, removed, wraps, anchored=None):
    out = u8(1) + u8(kind) + vault + u32(number) + previous + u32(signer.number) + u64(time) + u32(epoch)
    out += u8(len(added)) + b"".join(added) + u8(len(removed)) + b"".join(map(u32, sorted(removed)))
    out += u16(len(wraps)) + b"".join(wraps)
    if anchored:
        anchor = mac(hkdf(anchored, context("omv/sync/anchor-key")), context("omv/sync/anchor", vault) + out)
        out += u8(1) + anchor
    else:
        out += u8(0)
    return out + sign(signer.member, context("omv/sync/roll", vault) + out)


def head(vault, incarnation, device, number, previous, skip, epoch, last, count, time, others, packs):
    out = u8(1) + vault + incarnation + u32(device.number) + u64(number) + previous + skip + u32(epoch)
    out += u32(last[0]) + last[1] + u64(count) + u64(time)
    out += u16(len(others)) + b"".join(u32(d) + u64(n) + h for d, n, h in sorted(others))
    out += u16(len(packs)) + b"".join(u64(n) + h for n, h in sorted(packs))
    return out + sign(device.head, context("omv/sync/head", vault) + out)


# Versions and parcels.

def seen_bytes(seen): return u16(len(seen)) + b"".join(u32(d) + u64(c) for d, c in sorted(seen))


def lowering(vault, item, lane, level, epoch, covered):
    out = u8(level) + u32(epoch) + seen_bytes(covered)
    return out + mac(hkdf(lane, context("omv/sync/lowering-key")), context("omv/sync/lowering", vault, item) + out)


def parts(dot, seen, lowerings, origin=None):
    out = u32(dot[0]) + u64(dot[1]) + seen_bytes(seen) + u8(len(lowerings)) + b"".join(lowerings)
    return out + (u8(1) + origin if origin else u8(0))


def content(state, created, modified, name, details, sync, fields):
    body = u8(2) + u8(state) + u16(0) + u64(created) + u64(modified) + u16(len(name)) + name + details + u8(1) + sync
    body += u16(len(fields))
    for field, value in fields:
        body += u8(0) + u8(len(field)) + field + u32(len(value)) + value
    return u32(len(body) + 4) + body


def parcel(vault, ident, lane, level, epoch, kind, inside, salt, nonce):
    key = hkdf(lane, context("omv/sync/parcel-key", ident, salt))
    commitment = hkdf(lane, context("omv/sync/commit", ident, salt))
    outside = u8(1) + u8(1) + ident + u32(epoch) + salt + commitment
    return outside + box(key, nonce, padded(u8(kind) + u8(level) + inside), context("omv/sync/parcel", vault, outside))


def pack(vault, device, number, parcels):
    out = u8(1) + vault + u32(device.number) + u64(number) + u32(len(parcels))
    return out + b"".join(u32(len(p)) + p for p in sorted(parcels, key=lambda p: p[2:18]))


# What a device keeps.

def summary(state, time, dot, name, origin, kind, expires, tags, fields):
    out = u8(state) + u64(time) + u32(dot[0]) + u64(dot[1]) + counted(name) + counted(origin) + u8(kind) + u64(expires)
    out += u8(len(tags)) + b"".join(map(counted, tags)) + u16(len(fields))
    return out + b"".join(u8(shown) + counted(field) + value for field, shown, value in sorted(fields))


def counted(text): return u16(len(text)) + text


def listed(seen, summarised, level, created, lowerings):
    causes = seen_bytes(seen) + summarised + u8(level) + u64(created)
    causes += b"".join(u8(stricter) + seen_bytes(covered) for stricter, covered in lowerings)
    return u8(1) + digest(causes) + seen_bytes(seen)


def sealed_row(class_key, content, nonce, *where):
    return box(hkdf(class_key, context(*where)), nonce, content, context(*where))


def row_mac(device_key, vault, kind, key, body):
    return mac(hkdf(device_key, context("omv/sync/row-key", vault)), context("omv/sync/row", kind, key) + body)


def combined(macs):
    out = bytes(32)
    for one in macs:
        out = bytes(a ^ b for a, b in zip(out, one))
    return out


def is_note(kind, key): return kind == 12 and key[0] in (0, 2)


def own_row(device_key, vault, number, founder, salt, generation, count, rows, nonce):
    """The content of sync_self, and its box."""
    macs = [(is_note(kind, key), row_mac(device_key, vault, kind, key, body)) for kind, key, body in rows]
    inside = u64(generation) + u32(number) + u32(founder) + salt + u64(count) + combined(one for _, one in macs)
    has_notes = any(note for note, _ in macs)
    inside = u8(2) + inside + combined(one for note, one in macs if note) if has_notes else u8(1) + inside
    return inside, sealed_row(device_key, inside, nonce, "omv/sync/self", vault)


# Pairing.

def message(secret, number, text, nonce):
    where = context("omv/sync/pair", number)
    return box(hkdf(secret, where), nonce, padded(u16(len(text)) + text), where)


def crockford(secret, label):
    bits = secret + digest(context(label) + secret)[:4]
    number = int.from_bytes(bits, "big")
    letters = ["0123456789ABCDEFGHJKMNPQRSTVWXYZ"[number >> 5 * place & 31] for place in reversed(range(32))]
    return "-".join("".join(letters[start:start + 4]) for start in range(0, 32, 4))


def remote(folder, is_later):
    """A remote whose only device is lost. Its items, also the one in chunks, are in one pack."""
    vault, incarnation, link, code = b"\x12" * 16, b"\x24" * 16, b"\x06" * 32, bytes(range(32, 48))
    lanes = {level: bytes([0x65 + level]) * 32 for level in (1, 2, 3)}
    device, recovery = Device(vault, 0x61, "lost laptop"), Recovery(vault, code)
    wraps = []
    for index, member in enumerate((device, recovery)):
        for kind, inside in ((1, lanes[2] + lanes[3] + link), (2, lanes[1])):
            seed = bytes([0x10 + 2 * index + kind])
            wraps.append(wrap(vault, 0, member, kind, 1, inside, seed * 32, seed * 24))
    added = [member_bytes(vault, link, device, b"\x84" * 24), member_bytes(vault, link, recovery, b"\x85" * 24)]
    founding = entry(vault, 1, 0, bytes(32), device, 1_700_000_000, 1, added, [], wraps, code)

    def item(count, level, name, fields):
        ident = bytes([count]) * 16
        dot = (device.number, count)
        inside = content(0, 1_600_000_000, 1_650_000_000, name, u8(1) + u64(0) + u8(0), parts(dot, [dot], []), fields)
        return parcel(vault, ident, lanes[level], level, 1, 0, inside, ident, bytes([count]) * 24)

    packed = pack(vault, device, 1, [
        item(2, 3, b"mail", [(b"password", b"hunter2"), (b"username", b"ann")]),
        item(3, 2, "Büro".encode(), [(b"pin", b"0000")]),
        item(4, 1, b"free", [(b"key", b"of always")]),
    ])
    last = (0, digest(founding))
    first = head(vault, incarnation, device, 1, bytes(32), bytes(32), 1, last, 4, 1_700_000_050, [], [(1, digest(packed))])
    later = u8(2) + b"an entry of a later omvault"
    files = {"remote": founding, f"{device.number:08x}/{1:016x}.pack": packed, f"{device.number:08x}/head.1": first}
    if is_later:
        files[f"roll/{1:08x}-{digest(later).hex()}"] = later
        files[f"{device.number:08x}/head"] = head(
            vault, incarnation, device, 2, digest(first), bytes(32), 1, (1, digest(later)), 4, 1_700_000_060, [],
            [(1, digest(packed))])
    place = os.path.join(folder, f"omvault-sync-{vault.hex()}-{incarnation.hex()}")
    for name, data in files.items():
        path = os.path.join(place, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    print(crockford(code, "omv/recovery-checksum"))


def main():
    vault, incarnation, link, item = b"\x11" * 16, b"\x22" * 16, b"\x05" * 32, b"\x33" * 16
    lanes = {1: b"\x61" * 32, 2: b"\x62" * 32, 3: b"\x63" * 32}
    later = {1: b"\x71" * 32, 2: b"\x72" * 32, 3: b"\x73" * 32}
    code = bytes(range(16))
    one, two = Device(vault, 0x41, "laptop"), Device(vault, 0x51, "tour à pied")
    recovery = Recovery(vault, code)
    out = {}

    def wraps(number, members, epoch, keys, first):
        made = []
        for index, member in enumerate(members):
            for kind in (1, 2):
                inside = keys[2] + keys[3] + link if kind == 1 else keys[1]
                seed = first + 2 * index + kind
                made.append(wrap(vault, number, member, kind, epoch, inside, bytes([seed]) * 32, bytes([seed]) * 24))
        return made

    out["device-numbers"] = [member.number for member in (one, two, recovery)]
    out["device-keys"] = [member.keys.hex() for member in (one, two, recovery)]
    added = [member_bytes(vault, link, one, b"\x81" * 24), member_bytes(vault, link, recovery, b"\x82" * 24)]
    founding = entry(vault, 1, 0, bytes(32), one, 1_700_000_000, 1, added, [], wraps(0, [one, recovery], 1, lanes, 0x10), code)
    adding = entry(vault, 2, 1, digest(founding), one, 1_700_000_100, 1, [member_bytes(vault, link, two, b"\x83" * 24)], [],
                   wraps(1, [two], 1, lanes, 0x20))
    removing = entry(vault, 3, 2, digest(adding), recovery, 1_700_000_200, 2, [], [one.number],
                     wraps(2, [two, recovery], 2, later, 0x30))
    out["roll"] = [made.hex() for made in (founding, adding, removing)]
    out["roll-digests"] = [digest(made).hex() for made in (founding, adding, removing)]

    lowered = [lowering(vault, item, lanes[3], 3, 1, [(one.number, 2)])]
    live = content(0, 1_600_000_000, 1_650_000_000, "mail".encode(), u8(1) + u64(0) + u8(0),
                   parts((one.number, 3), [(one.number, 3), (two.number, 5)], lowered, b"\x44" * 16),
                   [(b"password", b"hunter2"), (b"username", b"ann")])
    purged = content(2, 1_600_000_000, 1_650_000_100, b"", u8(0) + u64(0) + u8(0),
                     parts((two.number, 6), [(one.number, 3), (two.number, 6)], []), [])
    chunk = item + u32(5) + b"hello"
    out["contents"] = [live.hex(), purged.hex(), chunk.hex()]
    sealed = [
        parcel(vault, item, lanes[2], 2, 1, 0, live, b"\x91" * 16, b"\x92" * 24),
        parcel(vault, b"\x34" * 16, lanes[3], 3, 1, 0, purged, b"\x93" * 16, b"\x94" * 24),
        parcel(vault, b"\x35" * 16, lanes[1], 1, 1, 3, chunk, b"\x95" * 16, b"\x96" * 24),
    ]
    out["parcels"] = [made.hex() for made in sealed]
    packed = pack(vault, one, 7, sealed)
    out["pack"], out["pack-digest"] = packed.hex(), digest(packed).hex()

    first = head(vault, incarnation, one, 1, bytes(32), bytes(32), 1, (0, digest(founding)), 3, 1_700_000_050, [],
                 [(7, digest(packed))])
    second = head(vault, incarnation, one, 2, digest(first), bytes(32), 1, (1, digest(adding)), 4, 1_700_000_150,
                  [(two.number, 1, b"\xAA" * 32)], [(7, digest(packed)), (8, b"\xBB" * 32)])
    third = head(vault, incarnation, one, 3, digest(second), digest(second), 1, (1, digest(adding)), 4, 1_700_000_160,
                 [(two.number, 1, b"\xAA" * 32)], [(8, b"\xBB" * 32)])
    out["heads"] = [made.hex() for made in (first, second, third)]
    out["head-digests"] = [digest(made).hex() for made in (first, second, third)]
    head_list = u8(1) + vault + u16(3) + b"".join(u32(len(made)) + made for made in (first, second, third))
    out["head-list"] = head_list.hex()

    known = sorted([(one.number, 3, digest(third)), (two.number, 1, b"\xAA" * 32)])
    known = digest(b"".join(u32(device) + u64(number) + made for device, number, made in known))
    compared = digest(context("omv/sync/compare", vault, incarnation, known, digest(adding)), 64)
    out["comparison-digits"] = " ".join(
        f"{int.from_bytes(compared[start:start + 5], 'big') % 100_000:05}" for start in range(0, 60, 5))

    causes = seen_bytes([(one.number, 3)]) + b"a summary"
    out["copy-id"] = keyed(link, context("omv/sync/copy", item) + causes)[:16].hex()
    out["copy-chunk-id"] = keyed(link, context("omv/sync/copy-chunk", item) + b"\x35" * 16)[:16].hex()
    out["name-digits"] = keyed(link, context("omv/sync/name", item) + b"mail")[:16].hex()
    out["value-hash"] = keyed(link, context("omv/sync/value") + digest(b"hunter2")).hex()

    secret, random = bytes(range(16, 32)), b"\xCC" * 32
    out["pairing-code"] = crockford(secret, "omv/sync/pair-checksum")
    out["recovery-code"] = crockford(code, "omv/recovery-checksum")
    out["pairing-mailbox"] = hkdf(secret, context("omv/sync/pair-box"))[:16].hex()
    url = b"https://sync.example.org/"
    invitation = u8(1) + vault + u32(one.number) + u32(0) + digest(founding) + u64(1_700_000_700)
    invitation += digest(context("omv/sync/pair-commit") + random) + u8(2)
    invitation += incarnation + u16(len(url)) + url
    invitation += b"\x23" * 16 + u16(0)
    name = two.name.encode()
    request = u8(1) + digest(invitation) + two.keys + u8(len(name)) + name
    proof = context("omv/sync/pair-proof", vault) + request
    request += sign(two.head, proof) + sign(two.member, proof)
    reveal = u8(1) + digest(request) + random
    done = u8(1) + u32(1) + digest(adding)
    out["pairing"] = [made.hex() for made in (invitation, request, reveal, done)]
    out["pairing-boxes"] = [
        message(secret, number, text, bytes([0xD0 + number]) * 24).hex()
        for number, text in enumerate((invitation, request, reveal, done), 1)]
    number = int.from_bytes(
        digest(context("omv/sync/pair-digits", vault, digest(invitation), digest(request), random))[:8], "big")
    out["pairing-digits"] = f"{number % 1_000_000:06}"

    # The tables of device one.
    device_key, salt = b"\x41" * 32, b"\x44" * 16
    classes = {1: b"\x46" * 32, 2: b"\x45" * 32, 3: b"\x43" * 32}
    values = {name: keyed(link, context("omv/sync/value") + digest(value))
              for name, value in ((b"password", b"hunter2"), (b"username", b"ann"))}
    of_live = summary(2, 1_650_000_000, (one.number, 3), b"mail", b"\x44" * 16, 1, 0, [],
                      [(b"username", 0, values[b"username"]), (b"password", 0, values[b"password"])])
    of_purged = summary(0, 1_650_000_100, (two.number, 6), b"", b"", 0, 0, [], [])
    of_trashed = summary(1, 1_650_000_200, (two.number, 7), "tour à pied".encode(), b"", 11, 2_114_380_800, [b"home", b"work"],
                         [(b"username", 1, values[b"username"])])
    out["summaries"] = [made.hex() for made in (of_live, of_purged, of_trashed)]
    seen = [(one.number, 3), (two.number, 5)]
    live_version = listed(seen, of_live, 2, 1_600_000_000, [(3, [(one.number, 2)])])
    purged_version = listed([(one.number, 3), (two.number, 6)], of_purged, 3, 1_600_000_000, [])
    epoch, chunk_id, later_id = u32(1) + digest(founding), b"\x35" * 16, b"\x36" * 16
    place = "/media/Stick ü".encode()
    login = (u8(1) + counted(b"refresh-token") + u64(1_700_000_900) + counted(b"access-token") + u8(4) + "añn".encode()
             + u32(5) + b"-----")
    rows = [(1, u8(level) + epoch,
             sealed_row(classes[level], lanes[level], bytes([0xE0 + level]) * 24, "omv/sync/lane-box", vault, u8(level) + epoch))
            for level in (1, 2, 3)]
    rows.append((2, u8(3) + epoch, sealed_row(classes[3], link, b"\xE4" * 24, "omv/sync/link-box", vault, u8(3) + epoch)))
    rows += [(3, digest(made), made) for made in (founding, adding, removing)]
    rows += [
        (4, u8(1), u8(1) + incarnation + counted(place) + u64(8) + u16(2) + u64(7) + digest(packed) + u64(8) + b"\xBB" * 32
         + u8(2) + u32(one.number) + u64(3) + digest(third) + u32(one.number) + u64(2) + digest(second)),
        (5, u8(1) + u32(one.number) + u64(2), second),
        (5, u8(1) + u32(one.number) + u64(3), third),
        (6, u8(1) + b"\x55" * 32, item + chunk_id + later_id),
        (7, u8(1) + item, u64(7) + u32(len(sealed[0])) + digest(founding) + live_version),
        (7, u8(1) + chunk_id, u64(7) + u32(len(sealed[2])) + digest(founding) + u8(0)),
    ]
    for ident, made, mark, inside in (
            (item, sealed[0], 0, sealed[0]), (b"\x34" * 16, sealed[1], 2, sealed[1]), (chunk_id, sealed[2], 3, sealed[2]),
            (b"\x37" * 16, sealed[1], 1, purged_version), (b"\x38" * 16, sealed[2], 1, u8(0))):
        rows.append((8, u8(1) + u32(two.number) + ident, u64(9) + digest(made) + u8(mark) + inside))
    rows += [
        (9, u8(1) + u8(0), third),
        (9, u8(1) + u8(1) + u64(7), packed),
        (10, u32(0), u64(0) + u32(5)),
        (10, u32(two.number), u64(1_700_000_170) + u32(6)),
        (11, u32(two.number), u64(12)),
        (12, u8(0) + item, u8(1) + b"\x34" * 16 + u64(1_700_000_180)),
        (12, u8(1) + u8(3) + b"\x56" * 16, u8(1) + item),
        (12, u8(2) + b"\x44" * 16 + item, u8(1)),
        (12, u8(3) + digest(removing), removing),
        (12, u8(4) + digest(adding), u8(1)),
        (13, u32(0x01020304), sealed_row(classes[3], b"\x47" * 32, b"\xE5" * 24, "omv/sync/former-key", vault, 0x01020304)),
        (14, digest(adding), adding),
        (15, u8(1), sealed_row(classes[1], login, b"\xE8" * 24, "omv/sync/server-token", vault, 1)),
        (16, u8(1) + u32(two.number) + u64(10), b"\xBC" * 32),
    ]
    out["rows"] = [{"kind": kind, "key": key.hex(), "body": body.hex(),
                    "mac": row_mac(device_key, vault, kind, key, body).hex()} for kind, key, body in rows]
    kept = [own_row(device_key, vault, one.number, one.number, salt, generation, 4, some, nonce) for generation, some, nonce in (
        (8, [row for row in rows if not is_note(*row[:2])], b"\xE6" * 24), (9, rows, b"\xE7" * 24))]
    out["self"] = [inside.hex() for inside, _ in kept]
    out["self-boxes"] = [made.hex() for _, made in kept]
    out["self-marks"] = [(inside[1:9] + digest(made)[:24]).hex() for inside, made in kept]

    out["labels"] = sorted(label for label in LABELS if label.startswith("omv/sync/"))
    json.dump(out, sys.stdout, indent=1)
    print()


# Benchmarks/load/remotes.py imports this file.
if __name__ == "__main__":
    if sys.argv[1:]:
        remote(sys.argv[2], {"--remote": False, "--later-remote": True}[sys.argv[1]])
    else:
        main()
