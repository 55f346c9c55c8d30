import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { errorCodeOf, messageOf } from '../../core/errors.ts'
import { createOwnerFile } from '../../core/system/owner-file.ts'
import { type PublicReceiptKey, publicHalf, ReceiptKeyError } from './public-key.ts'

/** The key that signs receipts, and its public half. */
export interface ReceiptKey {
  readonly privateKey: KeyObject
  readonly public: PublicReceiptKey
}

/** The file of the key in the gateway's data folder. */
export function receiptKeyFile(dataDir: string): string {
  return path.join(path.resolve(dataDir), 'receipt-key.pem')
}

/**
 * Opens the key of this data folder and creates it if missing. Processes that start at the same time get the same key.
 * Throws `ReceiptKeyError`.
 */
export function openReceiptKey(dataDir: string): ReceiptKey {
  const file = receiptKeyFile(dataDir)
  return readReceiptKey(file) ?? makeKey(file)
}

/** Reads the key in a file; `undefined` when there is no such file. Throws `ReceiptKeyError` for a file without a key. */
export function readReceiptKey(file: string): ReceiptKey | undefined {
  let pem: string
  try {
    pem = readFileSync(file, 'utf8')
  } catch (cause) {
    if (errorCodeOf(cause) === 'ENOENT') return undefined
    throw new ReceiptKeyError(`The receipt key cannot be read: ${messageOf(cause)}.`, { cause })
  }
  try {
    const privateKey = createPrivateKey(pem)
    return { privateKey, public: publicHalf(privateKey) }
  } catch (cause) {
    const words = `\`${file}\` is not the private Ed25519 key that signs receipts. Restore the original file; without it a new key is created at the next start, and older receipts are verified with the old public key.`
    throw new ReceiptKeyError(words, { cause })
  }
}

/** Creates a key. Throws `ReceiptKeyError`. */
function makeKey(file: string): ReceiptKey {
  try {
    const { privateKey } = generateKeyPairSync('ed25519')
    createOwnerFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  } catch (cause) {
    throw new ReceiptKeyError(`The receipt key cannot be created: ${messageOf(cause)}.`, { cause })
  }
  const key = readReceiptKey(file)
  if (key === undefined) throw new ReceiptKeyError(`\`${file}\` was removed while it was created.`)
  return key
}
