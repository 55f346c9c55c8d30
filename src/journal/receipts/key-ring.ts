import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { messageOf } from '../../core/errors.ts'
import { CheckpointError, type NoteSigner, signerOf } from '../../core/ledger/checkpoint.ts'
import { MOST_KEYS, parseKeyList, signKeyList } from '../../core/ledger/key-list.ts'
import { type PublicReceiptKey, parsePublicKeys, publicHalf, ReceiptKeyError } from './public-key.ts'
import { openReceiptKey, type ReceiptKey, readReceiptKey, receiptKeyFile } from './signing-key.ts'

/** The key that signs heads, and the keys whose heads it continues. */
export interface KeyRing {
  readonly own: ReceiptKey
  /** The public halves: the own key first, then those of `receipt-key.<name>.pem` in the data folder. */
  readonly keys: readonly PublicReceiptKey[]
  /** The list of the keys, signed by those whose private halves are there. */
  readonly note: string
}

const EARLIER_FILE = /^receipt-key\.[\w-]+\.pem$/

/** Opens the keys of this data folder, and creates its own key if missing. Throws `ReceiptKeyError`. */
export function openKeyRing(dataDir: string): KeyRing {
  return ringOf(openReceiptKey(dataDir), dataDir)
}

/** Reads the keys of this data folder; `undefined` when it has no key of its own. Throws `ReceiptKeyError`. */
export function readKeyRing(dataDir: string): KeyRing | undefined {
  const own = readReceiptKey(receiptKeyFile(dataDir))
  return own && ringOf(own, dataDir)
}

/** Lists the files of keys that this data folder may have: of its own key, and of earlier ones. */
export function receiptKeyFiles(dataDir: string): string[] {
  return [receiptKeyFile(dataDir), ...earlierFiles(path.resolve(dataDir))]
}

function earlierFiles(folder: string): string[] {
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false
  const names = isFolder ? readdirSync(folder).filter((name) => EARLIER_FILE.test(name)) : []
  return names.sort().map((name) => path.join(folder, name))
}

function ringOf(own: ReceiptKey, dataDir: string): KeyRing {
  const folder = path.resolve(dataDir)
  const files = earlierFiles(folder)
  if (files.length >= MOST_KEYS)
    throw new ReceiptKeyError(`\`${folder}\` has more than ${MOST_KEYS - 1} earlier receipt keys.`)
  return createKeyRing(own, files.map(readEarlier))
}

/** Creates a ring from a key and earlier ones, of which the private halves may be missing. */
export function createKeyRing(own: ReceiptKey, earlier: readonly KeyObject[]): KeyRing {
  const byRaw = new Map([own.privateKey, ...earlier].map((key) => [publicHalf(key).raw, key]))
  const signers = [...byRaw].flatMap(([raw, key]) => (key.type === 'private' ? [{ raw, privateKey: key }] : []))
  return {
    own,
    keys: [...byRaw.values()].map(publicHalf),
    note: signKeyList([...byRaw.keys()], signers),
  }
}

/** Returns the keys as the store of receipts takes them. */
export function ledgerKeyOf({ own, keys }: KeyRing): NoteSigner & { readonly earlier: readonly string[] } {
  const { raw } = own.public
  return { raw, privateKey: own.privateKey, earlier: keys.map((key) => key.raw).filter((each) => each !== raw) }
}

/** Reads an earlier key: either half. */
function readEarlier(file: string): KeyObject {
  try {
    const pem = readFileSync(file, 'utf8')
    const key = pem.includes('PRIVATE KEY') ? createPrivateKey(pem) : createPublicKey(pem)
    publicHalf(key)
    return key
  } catch (cause) {
    throw new ReceiptKeyError(`\`${file}\` is not an earlier Ed25519 key of receipts: ${messageOf(cause)}.`, { cause })
  }
}

/** Returns the given keys, and those of a signed list if one of the given keys has signed it. Throws `CheckpointError`. */
export function withVouched(given: readonly PublicReceiptKey[], note: string): PublicReceiptKey[] {
  const list = parseKeyList(note)
  if (signerOf(list, given) === undefined) return [...given]
  try {
    return [...given, ...list.raws.flatMap(parsePublicKeys)]
  } catch (cause) {
    throw new CheckpointError('Its list of keys has one that cannot be read.', { cause })
  }
}
