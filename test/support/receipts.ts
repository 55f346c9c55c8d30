import type { Receipt, StoredReceipt } from '../../src/core/telemetry/receipt.ts'

/** Returns a whole receipt; `parts` replace members. */
export function sampleReceipt(parts: Partial<Receipt> = {}): Receipt {
  return {
    v: 1,
    id: 'rcpt_01m803q1vqay4xsy28gwc92241',
    created_at: '2026-11-21T22:30:31.058Z',
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
    key_id: '8gN1Nwm72vpLmxQk',
    ...parts,
  }
}

/** Returns a receipt that waits to be stored; its signature is made up. */
export function storedSample(id: string, scope = 'mine'): StoredReceipt {
  const receipt = sampleReceipt({ id })
  const json = JSON.stringify({ ...receipt, signature: { alg: 'Ed25519', key: 'k', value: 's' } })
  return { id, scope, createdAtMs: Date.parse(receipt.created_at), json }
}
