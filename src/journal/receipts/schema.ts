import { z } from 'zod'
import { CONVERSATION_ID } from '../../core/request/conversation/conversation.ts'
import { RECEIPT_ID } from '../../core/telemetry/receipt-id.ts'

const usd = z
  .string()
  .regex(/^\d+\.\d{9}$/)
  .nullable()
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const HASH = /^[A-Za-z0-9+/]{43}=$/
/** More than the height of any tree whose size is an exact number. */
const MOST_HASHES = 60
const LONGEST_CHECKPOINT = 4096

const contents = z.looseObject({
  id: z.string().regex(RECEIPT_ID),
  created_at: z.iso.datetime({ precision: 3 }),
  request_id: z.string(),
  status: z.int().nullable(),
  outcome: z.enum(['complete', 'incomplete', 'cancelled', 'error']),
  model_asked: z.string(),
  conversation_id: z.string().regex(CONVERSATION_ID).optional(),
  turn: z.int().min(1).optional(),
  cost: z.looseObject({ provider_usd: usd }),
  counterfactual: z.looseObject({ usd, explained: z.string() }),
  request_sha256: sha256,
  reply_sha256: sha256,
  reply_bytes: z.int().min(0),
})

const signature = z.strictObject({ alg: z.literal('Ed25519'), key: z.string(), value: z.string().length(86) })

const proof = z.strictObject({
  leaf_index: z.int().min(0),
  hashes: z.array(z.string().regex(HASH)).max(MOST_HASHES),
  checkpoint: z.string().max(LONGEST_CHECKPOINT),
})

/**
 * Schema of the members that this version knows. Unknown members are covered by signature or proof like the others; only
 * signature and proof, which cannot cover themselves, allow none.
 */
export const receiptSchema = z.discriminatedUnion('v', [
  contents.extend({ v: z.literal(1), key_id: z.string(), signature }),
  contents.extend({ v: z.literal(2), scope_sha256: sha256, proof }),
])
