import { AGENT, credential, readChallenge } from '../payments/booth.ts'
import { ask, send } from '../support/http-client.ts'
import { grantToken } from '../support/stripe/machine-payments.ts'
import type { Stage } from './stage.ts'

const TIMEOUT_MS = 60_000
let agents = 0

/** An agent without an account asks, is told the price, and pays for one answer. Rejects when it gets none. */
export async function payForAnswer({ stripe }: Stage, url: string): Promise<void> {
  const body = ask(`Agent ${++agents} would like to know.`)
  const options = { path: AGENT, body, timeoutMs: TIMEOUT_MS }
  const challenge = readChallenge(await send(url, { ...options, headers: { authorization: undefined } }))
  const authorization = credential(challenge, grantToken(stripe.world))
  const { status, text } = await send(url, { ...options, headers: { authorization } })
  if (status !== 200) throw new Error(`Expected an answer for the money, got ${status} ${text}`)
}
