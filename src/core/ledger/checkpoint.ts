import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto'

/**
 * DESIGN — signed tree heads
 *
 * A checkpoint (https://c2sp.org/tlog-checkpoint) is a signed note (https://c2sp.org/signed-note): three lines of text, an
 * empty line, and a signature line. The Ed25519 signature covers the text up to and including the newline of its third line:
 *
 *   <origin>
 *   <number of leaves>
 *   <base64 of the root>
 *
 *   — <origin> <base64 of the key's id, 4 bytes, and the signature, 64 bytes>
 */

/** Head of a log's tree. */
export interface TreeHead {
  /** Name of the log; without white space and `+`. */
  readonly origin: string
  readonly size: number
  readonly root: Buffer
}

/** A public key with its raw 32 bytes in base64url. */
export interface NoteKey {
  readonly raw: string
  readonly key: KeyObject
}

/** A private key with the raw bytes of its public half in base64url. */
export interface NoteSigner {
  readonly raw: string
  readonly privateKey: KeyObject
}

/** A parsed note, not verified yet. */
export interface SignedNote {
  /** Name of the signers. */
  readonly origin: string
  /** The signed text. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

/** A parsed checkpoint, not verified yet. */
export interface Checkpoint extends TreeHead, SignedNote {}

/** One signature line. */
export interface NoteSignature {
  readonly name: string
  readonly keyId: Buffer
  readonly value: Buffer
}

/** Thrown for a text that is no checkpoint. */
export class CheckpointError extends Error {}

const ED25519 = 1
const KEY_ID_BYTES = 4
const SIGNATURE_BYTES = 64
const HASH_BYTES = 32
const LONGEST = 4096
const MOST_SIGNATURES = 32

/** Returns the id of a key as signed notes name it: it depends on the log's origin. */
export function noteKeyId(origin: string, rawKey: string): Buffer {
  const parts = [Buffer.from(`${origin}\n`), Buffer.of(ED25519), Buffer.from(rawKey, 'base64url')]
  return hash('sha256', Buffer.concat(parts), 'buffer').subarray(0, KEY_ID_BYTES)
}

/** Returns the public key of a raw one. Throws for a text that is no key. */
export function noteKey(raw: string): NoteKey {
  return { raw, key: createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw }, format: 'jwk' }) }
}

/** Signs a tree head. Throws `CheckpointError` for an origin with which the text would be that of another head. */
export function signCheckpoint({ origin, size, root }: TreeHead, { raw, privateKey }: NoteSigner): string {
  if (!ORIGIN.test(origin)) throw new CheckpointError('The name of the ledger is invalid.')
  const text = `${origin}\n${size}\n${root.toString('base64')}\n`
  const value = Buffer.concat([noteKeyId(origin, raw), sign(null, Buffer.from(text), privateKey)])
  return `${text}\n— ${origin} ${value.toString('base64')}\n`
}

/** Parses a checkpoint. Throws `CheckpointError`. */
export function parseCheckpoint(note: string): Checkpoint {
  const [, origin, size, root, lines] = (note.length > LONGEST ? null : NOTE.exec(note)) ?? []
  if (origin === undefined || size === undefined || root === undefined || lines === undefined)
    throw new CheckpointError('It is not a signed checkpoint.')
  if (!Number.isSafeInteger(Number(size))) throw new CheckpointError('Its tree is too large.')
  const text = note.slice(0, note.indexOf('\n\n') + 1)
  return { origin, size: Number(size), root: decode(root, HASH_BYTES), text, signatures: parseSignatures(lines) }
}

const NOTE = /^([^\s+]+)\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n\n((?:— \S+ [A-Za-z0-9+/]+=*\n)+)$/

const ORIGIN = /^[^\s+]{1,200}$/

/** Parses the first of a note's signature lines. Throws `CheckpointError`. */
export function parseSignatures(lines: string): NoteSignature[] {
  return lines.trimEnd().split('\n').slice(0, MOST_SIGNATURES).map(parseSignature)
}

function parseSignature(line: string): NoteSignature {
  const [, name = '', value = ''] = line.split(' ')
  const bytes = decode(value)
  return { name, keyId: bytes.subarray(0, KEY_ID_BYTES), value: bytes.subarray(KEY_ID_BYTES) }
}

/** Decodes base64. The decoder accepts several texts of the same bytes; exactly one is valid. */
export function decode(text: string, length?: number): Buffer {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text || (length !== undefined && bytes.length !== length))
    throw new CheckpointError('It has a hash or a signature that is not base64.')
  return bytes
}

/** Returns the key whose signature by the log itself is valid; `undefined` for none. */
export function signerOf<Key extends NoteKey>(
  { origin, text, signatures }: SignedNote,
  keys: readonly Key[],
): Key | undefined {
  const signed = Buffer.from(text)
  const own = signatures.filter(({ name, value }) => name === origin && value.length === SIGNATURE_BYTES)
  return keys.find((key) => {
    const id = noteKeyId(origin, key.raw)
    return own.some(({ keyId, value }) => keyId.equals(id) && verify(null, signed, key.key, value))
  })
}
