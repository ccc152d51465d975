#!/usr/bin/env python3
"""A shared recovery slot of docs/formats/vault-format.md, written from the page alone: usage: slot.py > slot.json"""
import contextlib
import importlib.util
import io
import json
import pathlib
import sys

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

spec = importlib.util.spec_from_file_location("published", pathlib.Path(__file__).with_name("bytes.py"))
published = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
with contextlib.redirect_stdout(io.StringIO()):
    spec.loader.exec_module(published)
context, hkdf, agreeing, u8, u32, u64 = (
    getattr(published, name) for name in ("context", "hkdf", "agreeing", "u8", "u32", "u64"))


def main():
    code, vault, device = bytes(range(16)), b"\x11" * 16, b"\x77" * 32
    root, once, number, epoch = b"\x55" * 32, b"\x66" * 32, 2, 3
    owner, sender = agreeing(hkdf(code, context("omv/sync/recovery", vault, 2))), agreeing(once)
    secret = X25519PrivateKey.from_private_bytes(once).exchange(X25519PublicKey.from_public_bytes(owner))
    unlocking = hkdf(secret, context("omv/slot/agreed", sender, owner))
    key = hkdf(unlocking, context("omv/slot/shared", vault, number, device, epoch))
    head = u8(1) + u8(5) + u32(number) + bytes(12 + 16) + u64(1_700_000_000) + bytes(16) + sender + owner
    commitment = hkdf(key, context("omv/commit", vault + head))
    box = published.box(hkdf(key, context("omv/slot-wrap")), b"\x88" * 24, root, context("omv/root", vault, head))
    json.dump({
        "code": published.crockford(code, "omv/recovery-checksum"), "vault": vault.hex(), "device": device.hex(),
        "epoch": epoch, "id": number, "created": 1_700_000_000, "recovery-key": owner.hex(), "root": root.hex(),
        "slot": (head + commitment + box).hex(),
    }, sys.stdout, indent=1)
    print()


main()
