#!/usr/bin/env python3
"""Verifies receipts of version 2 offline: verify-receipt.py KEYS RECEIPT...   (needs `openssl`)

KEYS is the JSON of /.well-known/turnpike-keys, each RECEIPT the JSON of /v1/receipts/<id>."""

import base64, hashlib, json, subprocess, sys, tempfile

SPKI = bytes.fromhex("302a300506032b6570032100")  # an Ed25519 public key in DER, up to its 32 bytes


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def is_signed(text, signature, raw):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("key", SPKI + raw), ("text", text), ("signature", signature)):
            with open(f"{folder}/{name}", "wb") as file:
                file.write(content)
        command = "openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in text -sigfile signature"
        return subprocess.run(command.split(), cwd=folder, capture_output=True).returncode == 0


def root_of(leaf, index, size, hashes):
    """Returns the root that an inclusion proof leads to (RFC 9162, section 2.1.3.2)."""
    last, root = size - 1, leaf
    for sibling in hashes:
        if last == 0:
            raise ValueError("the proof is too long")
        if index % 2 == 1 or index == last:
            root = sha256(b"\1", sibling, root)
            while index % 2 == 0 and index > 0:
                index, last = index // 2, last // 2
        else:
            root = sha256(b"\1", root, sibling)
        index, last = index // 2, last // 2
    return root if last == 0 else None


def verify(receipt, keys):
    proof = receipt.pop("proof")
    text, signatures = proof["checkpoint"].split("\n\n")
    origin, size, root = text.split("\n")
    text = (text + "\n").encode()
    _, name, value = signatures.splitlines()[0].split(" ")
    key_id, signature = base64.b64decode(value)[:4], base64.b64decode(value)[4:]
    signers = [raw for raw in keys if sha256(f"{origin}\n".encode(), b"\1", raw)[:4] == key_id]
    if name != origin or not any(is_signed(text, signature, raw) for raw in signers):
        return "the head is not signed by a given key"
    canonical = json.dumps(receipt, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    hashes = [base64.b64decode(each) for each in proof["hashes"]]
    computed = root_of(sha256(b"\0", canonical.encode()), proof["leaf_index"], int(size), hashes)
    return None if computed == base64.b64decode(root) else "the receipt is not in the tree of that head"


keys = [base64.urlsafe_b64decode(key["x"] + "=") for key in json.load(open(sys.argv[1]))["keys"]]
faults = {name: verify(json.load(open(name)), keys) for name in sys.argv[2:]}
for name, fault in faults.items():
    print(f"{name}: {fault or 'genuine'}")
sys.exit(any(faults.values()))
