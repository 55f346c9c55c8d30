import type { IncomingMessage } from 'node:http'
import { agentScope } from '../commerce/agent-payments/paywall.ts'
import { type PaymentChallengeParts, presentedPayment } from './payment-challenge.ts'
import { AGENT_PATH } from './routes/agent.ts'

/** The scope of what somebody has paid for, who shows the credential they paid with; `undefined` without one of ours. */
export type PayerScope = (request: IncomingMessage) => Promise<string | undefined>

/**
 * Knows payers again. The token in a credential is theirs alone, and the challenge is one of ours or nothing is looked up.
 * Throws `invalid_request`, `rate_limit_error`.
 */
export function createPayerScope({ paywall, sessions, challengeLimiter }: PaymentChallengeParts): PayerScope {
  return async function payerScope(request) {
    const presented = presentedPayment({ req: request })
    if (presented.kind !== 'payment' && presented.kind !== 'session') return undefined
    const { challenge, token } = presented
    const isOwn =
      presented.kind === 'session' ? sessions.recognises(challenge) : paywall.recognises(challenge, AGENT_PATH)
    if (!isOwn) return undefined
    await challengeLimiter.admitSubmit(challenge.id)
    return agentScope(token)
  }
}
