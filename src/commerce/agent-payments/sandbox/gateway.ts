import { hash } from 'node:crypto'
import type { Clock } from '../../../core/ports/clock.ts'
import {
  type Authorization,
  type FoundPayment,
  type PaymentGateway,
  type PaymentOrder,
  SANDBOX_REFERENCE,
} from '../../../core/ports/payments.ts'
import { readSandboxToken } from './wallet.ts'

/**
 * DESIGN — payments of the sandbox
 *
 * A payment provider in memory, behind the port that Stripe is behind: challenges, settlement, books and receipts are those
 * of real payments. It keeps the rules that an agent can break: a token pays once, up to its amount, until its end; money
 * is held, then captured or released, never both. Its holds end with the process: then nothing is captured.
 */
const MOST_KEPT = 10_000
const SECOND_MS = 1000

interface Intent extends FoundPayment {
  readonly createdAtMs: number
  readonly token: string
}

/** Creates the payment provider of the sandbox. */
export function createSandboxGateway({ secret, clock }: { secret: string; clock: Clock }): PaymentGateway {
  const byChallenge = new Map<string, Intent>()
  const byToken = new Map<string, string>()
  const put = (intent: Intent) => {
    byChallenge.set(intent.challengeId, intent)
    byToken.set(intent.token, intent.challengeId)
    const [oldest] = byChallenge.values()
    if (byChallenge.size <= MOST_KEPT || oldest === undefined) return
    byChallenge.delete(oldest.challengeId)
    byToken.delete(oldest.token)
  }
  /** Moves held money; any other standing is final. */
  const move = (challengeId: string, standing: 'captured' | 'released') => {
    const intent = byChallenge.get(challengeId)
    if (intent?.standing === 'held') byChallenge.set(challengeId, { ...intent, standing })
    return byChallenge.get(challengeId)?.standing
  }
  return {
    async authorize(order) {
      const known = byChallenge.get(order.challengeId)
      if (known !== undefined) return authorizationOf(known)
      const reason = refusalOf(order, { secret, nowMs: clock.nowMs(), isUsed: byToken.has(order.token) })
      if (reason !== undefined) return { kind: 'refused', reason }
      const intent = intentOf(order, clock.nowMs())
      put(intent)
      return authorizationOf(intent)
    },
    async capture({ challengeId }) {
      return move(challengeId, 'captured') === 'captured' ? 'captured' : 'refused'
    },
    async cancel({ challengeId }) {
      return move(challengeId, 'released') === 'captured' ? 'captured' : 'canceled'
    },
    async find({ challengeId }) {
      return byChallenge.get(challengeId)
    },
    async *list({ sinceMs }) {
      for (const intent of [...byChallenge.values()].toReversed()) if (intent.createdAtMs >= sinceMs) yield intent
    },
  }
}

function refusalOf(
  { token, amountCents, currency }: PaymentOrder,
  { secret, nowMs, isUsed }: { secret: string; nowMs: number; isUsed: boolean },
): string | undefined {
  const granted = readSandboxToken(secret, token)
  if (granted === undefined) return 'the token is not of this sandbox: POST /v1/agent/sandbox/tokens grants one'
  if (isUsed) return 'the token was used before'
  if (granted.endsAtS * SECOND_MS <= nowMs) return 'the token has expired'
  if (currency !== 'usd' || granted.mostCents < amountCents)
    return `the token pays at most ${granted.mostCents} cents, and the price is ${amountCents}`
  return undefined
}

function intentOf(
  { challengeId, amountCents, currency, settlement, token }: PaymentOrder,
  createdAtMs: number,
): Intent {
  const reference = `${SANDBOX_REFERENCE}${hash('sha256', challengeId, 'hex').slice(0, 24)}`
  const standing = settlement === 'manual' ? 'held' : 'captured'
  return { challengeId, reference, standing, amountCents, currency, settlement, createdAtMs, token }
}

function authorizationOf({ standing, reference }: Intent): Authorization {
  if (standing === 'held') return { kind: 'authorized', reference }
  if (standing === 'captured') return { kind: 'captured', reference }
  return { kind: 'refused', reason: 'the payment was released' }
}
