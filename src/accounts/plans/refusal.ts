import { GatewayError } from '../../core/errors.ts'
import type { CallRefusal } from '../../core/ports/calls.ts'

/** Creates the refusal when an account’s plan has no call left. It is marked as not to be retried. */
export function callRefusal(refused: CallRefusal): GatewayError {
  const { tier } = refused
  if (refused.reason === 'credits') {
    const { neededCredits, freeCredits } = refused
    return new GatewayError(
      'payment_required',
      `The calls that the ${tier} plan includes are used up. The next costs ${neededCredits} credits, and ${freeCredits} are left. Add credits to go on.`,
    )
  }
  const { includedCalls, resetsAtMs } = refused
  const resetsAt = resetsAtMs === undefined ? undefined : new Date(resetsAtMs).toISOString()
  const again = resetsAt === undefined ? 'with the next paid period' : `at ${resetsAt}`
  return new GatewayError(
    'plan_calls_used',
    `The ${tier} plan has ${includedCalls} calls a period, and all are used or running. There are more ${again}, or on a larger plan.`,
    { fields: resetsAt === undefined ? {} : { resets_at: resetsAt } },
  )
}
