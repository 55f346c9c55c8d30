import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { canonicalJson } from '../../../src/core/json/canonical-json.ts'
import { publicHalf } from '../../../src/journal/receipts/public-key.ts'
import { signReceipt } from '../../../src/journal/receipts/sign.ts'
import { NoReceipt, verifyReceipt } from '../../../src/journal/receipts/verify.ts'
import { sampleReceipt } from '../../support/receipts.ts'
import { attempt, type Fuzzer, promise } from '../fuzzer.ts'
import { JSON_WORDS } from './json-scan.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const key = { privateKey, public: publicHalf(privateKey) }
const sign = (parts: Parameters<typeof sampleReceipt>[0]) =>
  signReceipt(sampleReceipt({ key_id: key.public.id, ...parts }), key)
const SIGNED = [
  sign({}),
  sign({ status: null, outcome: 'error', model_asked: 'é漢\u2028"\\' }),
  sign({ request_id: 'req_2' }),
]
const GENUINE = new Set(SIGNED.map((text) => canonicalJson(JSON.parse(text))))
const LAYOUTS = SIGNED.flatMap((text) => {
  const value = JSON.parse(text) as object
  return [
    text,
    JSON.stringify(value, undefined, 2),
    JSON.stringify(Object.fromEntries(Object.entries(value).reverse())),
  ]
})

/** Receipts: one that verifies has the values that were signed, whatever its layout; nothing else ever verifies. */
export const receipt: Fuzzer = {
  name: 'receipt',
  seeds: fc.constantFrom(...LAYOUTS).map((text) => Buffer.from(text).toString('latin1')),
  words: [...JSON_WORDS, '"signature":{"alg":"none"},', '"v":1,', '"cost":{"provider_usd":"0.000000000"},', ' ', '\n'],
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
    promise(GENUINE.has(canonicalJson(JSON.parse(shown))), `verifies: ${shown}`)
    return 'genuine'
  },
}
