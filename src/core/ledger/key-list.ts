import { sign } from 'node:crypto'
import { CheckpointError, type NoteSigner, noteKeyId, parseSignatures, type SignedNote } from './checkpoint.ts'

/**
 * DESIGN — list of a ledger's keys
 *
 * A signed note (https://c2sp.org/signed-note) of the keys that sign a gateway's heads, each on a line in base64url, the
 * current one first. Each key whose private half is there signs the list, so that a holder of an earlier key learns the
 * current one from that earlier key alone:
 *
 *   turnpike/receipt-keys
 *   <the current key>
 *   <an earlier key>
 *
 *   — turnpike/receipt-keys <base64 of the signing key's id and signature>
 */

const NAME = 'turnpike/receipt-keys'
/** Most keys of a list. */
export const MOST_KEYS = 32
const LIST =
  /^turnpike\/receipt-keys\n((?:[A-Za-z0-9_-]{43}\n){1,32})\n((?:— \S{1,100} [A-Za-z0-9+/]{1,200}=*\n){1,32})$/

/** A parsed list of keys, not verified yet. */
export interface KeyList extends SignedNote {
  /** Raw keys in base64url, the current one first. */
  readonly raws: readonly string[]
}

/** Signs a list of keys. */
export function signKeyList(raws: readonly string[], signers: readonly NoteSigner[]): string {
  const text = [NAME, ...raws, ''].join('\n')
  const lines = signers.map(({ raw, privateKey }) => {
    const value = Buffer.concat([noteKeyId(NAME, raw), sign(null, Buffer.from(text), privateKey)])
    return `— ${NAME} ${value.toString('base64')}\n`
  })
  return `${text}\n${lines.join('')}`
}

/** Parses a list of keys. Throws `CheckpointError`. */
export function parseKeyList(note: string): KeyList {
  const [, keys, lines] = LIST.exec(note) ?? []
  if (keys === undefined || lines === undefined) throw new CheckpointError('It is not a signed list of keys.')
  const text = note.slice(0, note.indexOf('\n\n') + 1)
  return { origin: NAME, text, raws: keys.trimEnd().split('\n'), signatures: parseSignatures(lines) }
}
