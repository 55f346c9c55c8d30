#!/usr/bin/env python3
"""Verifies receipts of version 2 offline: verify-receipt.py KEYS RECEIPT...   (needs `openssl`)

KEYS is the JSON of /.well-known/turnpike-keys, each RECEIPT the JSON of /v1/receipts/<id>."""

import base64, hashlib, json, subprocess, sys, tempfile

SPKI = bytes.fromhex("302a300506032b6570032100")  # an Ed25519 public key in DER, up to its 32 bytes
sha256 = lambda *parts: hashlib.sha256(b"".join(parts)).digest()
decode = lambda text: base64.b64decode(text, validate=True)


def unique(pairs):  # readers differ in which of two members with one name they take
    return dict(pairs) if len(dict(pairs)) == len(pairs) else sys.exit("a receipt repeats a name")


def is_signed(text, signature, raw):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("key", SPKI + raw), ("text", text), ("signature", signature)):
            with open(f"{folder}/{name}", "wb") as file:
                file.write(content)
        command = "openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in text -sigfile signature"
        return subprocess.run(command.split(), cwd=folder, capture_output=True).returncode == 0


def root_of(leaf, index, size, hashes):  # the root that an inclusion proof leads to (RFC 9162, 2.1.3.2)
    last, root = size - 1, leaf
    for sibling in hashes:
        if last == 0 or len(sibling) != 32:
            return None
        is_right = index % 2 == 1 or index == last
        root = sha256(b"\1", sibling, root) if is_right else sha256(b"\1", root, sibling)
        while is_right and index % 2 == 0 and index > 0:
            index, last = index // 2, last // 2
        index, last = index // 2, last // 2
    return root if last == 0 else None


def verify(receipt, keys):
    proof = receipt.pop("proof")
    text, signatures = proof["checkpoint"].split("\n\n")
    origin, size, root = text.split("\n")
    lines = [line.split(" ") for line in signatures.splitlines()]
    values = [decode(value) for dash, name, value in lines if (dash, name) == ("—", origin)]
    ids = [(sha256(f"{origin}\n".encode(), b"\1", raw)[:4], raw) for raw in keys]
    if not any(v[:4] == i and is_signed(f"{text}\n".encode(), v[4:], raw) for v in values for i, raw in ids):
        return "the head is not signed by a given key"
    canonical = json.dumps(receipt, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    leaf = sha256(b"\0", receipt["id"].encode(), b"\n", sha256(canonical))
    index, hashes = proof["leaf_index"], [decode(each) for each in proof["hashes"]]
    is_place = receipt["v"] == 2 and type(index) is int and 0 <= index < int(size)
    is_leaf = is_place and root_of(leaf, index, int(size), hashes) == decode(root)
    return None if is_leaf else "the receipt is not in the tree of that head"


keys = [base64.urlsafe_b64decode(key["x"] + "=") for key in json.load(open(sys.argv[1]))["keys"]]
faults = {name: verify(json.load(open(name), object_pairs_hook=unique), keys) for name in sys.argv[2:]}
for name, fault in faults.items():
    print(f"{name}: {fault or 'genuine'}")
sys.exit(any(faults.values()))
