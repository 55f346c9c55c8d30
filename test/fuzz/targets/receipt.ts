import fc from 'fast-check'
import { canonicalJson } from '../../../src/core/json/canonical-json.ts'
import { signCheckpoint } from '../../../src/core/ledger/checkpoint.ts'
import { leafHash, nodeHash } from '../../../src/core/ledger/merkle.ts'
import { contentHash, hashOfLeaf } from '../../../src/core/ledger/receipt-leaf.ts'
import type { Receipt } from '../../../src/core/telemetry/receipt.ts'
import { NoReceipt, verifyReceipt } from '../../../src/journal/receipts/verify.ts'
import { createReceiptKey, sampleReceipt, signerOfKey, signReceiptV1 } from '../../support/receipts.ts'
import { attempt, type Fuzzer, promise } from '../fuzzer.ts'
import { JSON_WORDS } from './json-scan.ts'

const key = createReceiptKey()

/** Returns a receipt with its proof: the second of two leaves. */
function prove(parts: Partial<Receipt>): string {
  const receipt = sampleReceipt(parts)
  const sibling = leafHash(Buffer.from('sibling'))
  const root = nodeHash(sibling, hashOfLeaf({ id: receipt.id, content: contentHash(canonicalJson(receipt)) }))
  const checkpoint = signCheckpoint({ origin: 'ledger', size: 2, root }, signerOfKey(key))
  return JSON.stringify({ ...receipt, proof: { leaf_index: 1, hashes: [sibling.toString('base64')], checkpoint } })
}

const SIGNED = [
  signReceiptV1({}, key),
  signReceiptV1({ status: null, outcome: 'error', model_asked: 'é漢\u2028"\\' }, key),
  signReceiptV1({ request_id: 'req_2' }, key),
  prove({}),
  prove({ model_asked: 'é漢\u2028"\\' }),
]
const GENUINE = new Set(SIGNED.map(valuesOf))
const LAYOUTS = SIGNED.flatMap((text) => {
  const value = JSON.parse(text) as object
  return [
    text,
    JSON.stringify(value, undefined, 2),
    JSON.stringify(Object.fromEntries(Object.entries(value).reverse())),
  ]
})

/** Returns the values of a receipt without their proof: a checkpoint may have signatures of others, too. */
function valuesOf(text: string): string {
  const { proof: _proof, ...values } = JSON.parse(text) as Record<string, unknown> // safe: a receipt
  return canonicalJson(values)
}

/** Receipts: one that verifies has the values that were signed, whatever its layout; nothing else ever verifies. */
export const receipt: Fuzzer = {
  name: 'receipt',
  seeds: fc.constantFrom(...LAYOUTS).map((text) => Buffer.from(text).toString('latin1')),
  words: [
    ...JSON_WORDS,
    '"signature":{"alg":"none"},',
    '"v":1,',
    '"v":2,',
    '"leaf_index":0,',
    '"cost":{"provider_usd":"0.000000000"},',
    ' ',
    '\n',
  ],
  mostMutations: 2,
  outcomes: ['genuine', 'refused', 'no receipt'],
  run({ text }) {
    const shown = Buffer.from(text, 'latin1').toString()
    const verdict = attempt(() => verifyReceipt(shown, [key.public]))
    if ('error' in verdict) {
      promise(verdict.error instanceof NoReceipt, `threw ${verdict.error}`)
      return 'no receipt'
    }
    if (!verdict.value.isValid) return 'refused'
    promise(GENUINE.has(valuesOf(shown)), `verifies: ${shown}`)
    return 'genuine'
  },
}
