import type { IncomingMessage } from 'node:http'
import { agentScope } from '../commerce/agent-payments/paywall.ts'
import { type PaymentChallengeParts, presentedPayment } from './payment-challenge.ts'
import { AGENT_PATH } from './routes/agent.ts'

/**
 * Returns the scope of the payer whose credential a request carries; `undefined` without a credential of this gateway.
 */
export type PayerScope = (request: IncomingMessage) => Promise<string | undefined>

/**
 * Creates a function that recognizes returning payers by the token in their credential, which they alone have.
 * Challenges of other issuers are not looked up. Throws `invalid_request`, `rate_limit_error`.
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
