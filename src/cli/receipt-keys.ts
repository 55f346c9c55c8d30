import { existsSync, readFileSync } from 'node:fs'
import { loadConfig } from '../config/load.ts'
import { messageOf } from '../core/errors.ts'
import { type KeyRing, readKeyRing } from '../journal/receipts/key-ring.ts'
import { type PublicReceiptKey, parsePublicKeys, ReceiptKeyError } from '../journal/receipts/public-key.ts'
import { receiptKeyFile } from '../journal/receipts/signing-key.ts'

/** Describes the option `--key` of commands that verify receipts or the ledger. */
export const KEY_OPTION = [
  '-k, --key <key>',
  'public key: base64url, or a file with it, a PEM, or the JSON of /.well-known/turnpike-keys (default: the keys in data_dir)',
] as const

/** Returns the public keys of the option `--key`. Throws `ReceiptKeyError`. */
export function givenKeys(key: string): PublicReceiptKey[] {
  try {
    return parsePublicKeys(existsSync(key) ? readFileSync(key, 'utf8') : key)
  } catch (cause) {
    throw new ReceiptKeyError(`--key ${key}: ${messageOf(cause)}`, { cause })
  }
}

/** Returns the keys in `data_dir`; `undefined` for none. Throws `ReceiptKeyError`. */
export function localRing(): KeyRing | undefined {
  return readKeyRing(loadConfig(process.env).config.data_dir)
}

/** Returns the keys in `data_dir`. Throws `ReceiptKeyError`, also for none. */
export function localKeys(): readonly PublicReceiptKey[] {
  const ring = localRing()
  if (ring !== undefined) return ring.keys
  const file = receiptKeyFile(loadConfig(process.env).config.data_dir)
  throw new ReceiptKeyError(`There is no key in \`${file}\`. Give the public key of the gateway that signed it: --key.`)
}
