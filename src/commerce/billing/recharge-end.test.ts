import test from 'ava'
import type Stripe from 'stripe'
import type { BillingParts } from './parts.ts'
import { applyIntent } from './recharge-end.ts'

const METADATA = { recharge_id: 'r', user_id: 'u', credits: '500' }

/** Applies an intent; returns what it resolves with, and the end of the recharge, if any. */
async function apply(parts: object) {
  const ends: unknown[] = []
  const store = { endRecharge: async (end: unknown) => void ends.push(end) }
  // Safe: nothing else of the two is read.
  const intent = { metadata: METADATA, last_payment_error: null, ...parts } as unknown as Stripe.PaymentIntent
  return { id: await applyIntent({ store } as unknown as BillingParts, intent), ends }
}

test('recharge end: a payment that succeeded ends it, one that is processed does not, and every other fails', async (t) => {
  const succeeded = await apply({ status: 'succeeded' })
  t.is(succeeded.id, 'recharge:r')
  t.like(succeeded.ends, [{ id: 'r', accountId: 'u', credits: 500, outcome: 'succeeded' }])
  t.deepEqual(await apply({ status: 'processing' }), { id: undefined, ends: [] })
  for (const status of ['requires_action', 'requires_payment_method', 'canceled']) {
    const failed = await apply({ status })
    t.is(failed.id, undefined)
    t.like(failed.ends, [{ outcome: 'failed', reason: status }])
  }
})

test('recharge end: of the reasons the card’s comes first', async (t) => {
  const reason = async (error: object) => {
    const { ends } = await apply({ status: 'requires_payment_method', last_payment_error: error })
    return (ends[0] as { reason: string }).reason // safe: an end of a recharge
  }
  t.is(await reason({ code: 'card_declined', decline_code: 'insufficient_funds' }), 'insufficient_funds')
  t.is(await reason({ code: 'expired_card' }), 'expired_card')
  t.is(await reason({}), 'requires_payment_method')
})

test('recharge end: an intent of something else is ignored', async (t) => {
  for (const metadata of [
    {},
    { ...METADATA, recharge_id: undefined },
    { ...METADATA, user_id: undefined },
    { ...METADATA, credits: '0' },
    { ...METADATA, credits: '-5' },
    { ...METADATA, credits: '1.5' },
    { ...METADATA, credits: 'many' },
  ])
    t.deepEqual(await apply({ status: 'succeeded', metadata }), { id: undefined, ends: [] })
})
