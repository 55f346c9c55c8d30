import { generateKeyPairSync, sign } from 'node:crypto'
import { canonicalJson } from '../../src/core/json/canonical-json.ts'
import type { Receipt, StoredReceipt } from '../../src/core/telemetry/receipt.ts'
import { publicHalf } from '../../src/journal/receipts/public-key.ts'
import type { ReceiptKey } from '../../src/journal/receipts/signing-key.ts'

/** Returns a whole receipt; `parts` replace members. */
export function sampleReceipt(parts: Partial<Receipt> = {}): Receipt {
  return {
    v: 2,
    id: 'rcpt_01m803q1vqay4xsy28gwc92241',
    created_at: '2026-11-21T22:30:31.058Z',
    scope_sha256: '7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069',
    request_id: 'req_1',
    route: 'messages',
    dialect: 'messages',
    stream: false,
    status: 200,
    model_asked: 'claude-sonnet-4-5',
    model_served: 'claude-sonnet-4-5',
    provider: 'anthropic',
    attempts: [{ provider: 'anthropic', model: 'claude-sonnet-4-5', outcome: 'answered', status: 200 }],
    pipeline: 'exact-cache',
    steps: [{ module: 'exact-cache', action: 'miss', ms: 0.125 }],
    usage: { input_tokens: 11, output_tokens: 3, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    outcome: 'complete',
    cost: { provider_usd: '0.000078000', price_source: 'catalogue', matched: 'anthropic/claude-sonnet-4-5' },
    counterfactual: { usd: '0.000078000', basis: 'same', explained: 'No plugin changed the request.' },
    request_sha256: '52300164f779973daa1a9c51003ea7546d86d20f27cb10dd1e4adc7d496d62e3',
    reply_sha256: 'db4468c6d4fdd0d9c8ae654668f0ea40617b7bdeb9b1986fed286e50e595bc23',
    reply_bytes: 411,
    latency: { total_ms: 30.769, gateway_ms: 6.333, provider_ms: 20.741 },
    ...parts,
  }
}

/** Creates a key that signs receipts or heads of the ledger. */
export function createReceiptKey(): ReceiptKey {
  const { privateKey } = generateKeyPairSync('ed25519')
  return { privateKey, public: publicHalf(privateKey) }
}

/** Returns the key as the store of receipts takes it. */
export function signerOfKey({ privateKey, public: { raw } }: ReceiptKey, earlier: readonly string[] = []) {
  return { privateKey, raw, earlier }
}

/** Returns the JSON of a receipt of version 1, as earlier releases signed and stored it. */
export function signReceiptV1(parts: Partial<Receipt>, { privateKey, public: { id } }: ReceiptKey): string {
  const text = canonicalJson(sampleReceipt({ v: 1, key_id: id, ...parts }))
  const value = sign(null, Buffer.from(text), privateKey).toString('base64url')
  return `${text.slice(0, -1)},"signature":${JSON.stringify({ alg: 'Ed25519', key: id, value })}}`
}

const key = signerOfKey(createReceiptKey())

/** Returns the input that appends these receipts to a ledger. */
export function toBatch(receipts: readonly StoredReceipt[]) {
  return { receipts, key }
}
