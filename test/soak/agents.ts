import { AGENT, credential, readChallenge } from '../payments/agent-fixture.ts'
import { ask, send } from '../support/http-client.ts'
import { grantToken } from '../support/stripe/machine-payments.ts'
import type { Fixture } from './fixture.ts'

const TIMEOUT_MS = 60_000
const MOST_TRIES = 5
let agents = 0

/**
 * An agent without an account requests, gets the price, and pays for one answer. When the provider fails, its money stays
 * held and the same credential goes on. Rejects when it gets no answer.
 */
export async function payForAnswer({ stripe }: Fixture, url: string): Promise<void> {
  const body = ask(`Agent ${++agents} would like to know.`)
  const options = { path: AGENT, body, timeoutMs: TIMEOUT_MS }
  const challenge = readChallenge(await send(url, { ...options, headers: { authorization: undefined } }))
  const authorization = credential(challenge, grantToken(stripe.world))
  for (let tries = 1; ; tries++) {
    const { status, text } = await send(url, { ...options, headers: { authorization } })
    if (status === 200) return
    if (tries === MOST_TRIES) throw new Error(`Expected an answer for the money, got ${status} ${text}`)
  }
}
