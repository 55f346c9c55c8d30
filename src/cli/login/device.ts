import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { CommandError } from '../exit-codes.ts'
import { messageIn, send } from '../remote/gateway.ts'
import { visible } from '../terminal/visible.ts'

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
const CLIENT = 'turnpike'
/** Wait before the first poll; the gateway allows it at once. */
const FIRST_POLL_MS = 1000
/** Longer interval after `slow_down` (RFC 8628, 3.5). */
const SLOWER_SECONDS = 5
const LONGEST_SHOWN = 300

const request = z.object({
  device_code: z.string().min(1),
  user_code: z.string().min(1).max(40),
  verification_uri: z.string().max(2000),
  expires_in: z.number(),
  interval: z.number().default(5),
})
const granted = z.object({ access_token: z.string().min(1), expires_in: z.number() })
const refused = z.object({ error: z.string() })

/** A token of a gateway, with its end. */
export interface GrantedToken {
  readonly token: string
  readonly expiresAtMs: number
}

/** Asks the gateway for a session that its user approves in a browser; `show` prints where. Throws `CommandError`. */
export async function signInByDevice(url: string, show: (page: string, code: string) => void): Promise<GrantedToken> {
  const asked = await post(url, '/oauth/device_authorization', { client_id: CLIENT, device_name: hostname() })
  const device = request.safeParse(asked.json)
  if (!asked.isOk || !device.success) throw new CommandError(1, refusal(asked))
  const { device_code: deviceCode, user_code: code, verification_uri: page, expires_in, interval } = device.data
  show(visible(page), visible(code))
  const endsAtMs = Date.now() + expires_in * 1000
  let pauseMs = FIRST_POLL_MS
  let intervalMs = interval * 1000
  while (Date.now() < endsAtMs) {
    await sleep(pauseMs)
    pauseMs = intervalMs
    const poll = await post(url, '/oauth/token', { grant_type: GRANT, device_code: deviceCode, client_id: CLIENT })
    const token = poll.isOk ? granted.safeParse(poll.json).data : undefined
    if (token !== undefined) return { token: token.access_token, expiresAtMs: Date.now() + token.expires_in * 1000 }
    const error = refused.safeParse(poll.json).data?.error
    if (error === 'slow_down') intervalMs += SLOWER_SECONDS * 1000
    else if (error === 'access_denied') throw new CommandError(1, 'The sign-in was denied.')
    else if (error !== 'authorization_pending') throw new CommandError(1, refusal(poll))
  }
  throw new CommandError(1, 'The code has expired before it was approved. Run the command again.')
}

/** Ends a session at its gateway. */
export async function revokeToken(url: string, token: string): Promise<void> {
  const reply = await post(url, '/oauth/revoke', { token })
  if (!reply.isOk) throw new CommandError(1, refusal(reply))
}

interface Reply {
  readonly isOk: boolean
  readonly status: number
  readonly text: string
  readonly json: unknown
}

async function post(url: string, path: string, form: Readonly<Record<string, string>>): Promise<Reply> {
  const reply = await send({ url, headers: {} }, path, { method: 'POST', body: new URLSearchParams(form) })
  const text = await reply.text()
  return { isOk: reply.ok, status: reply.status, text, json: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refusal({ status, text }: Reply): string {
  if (status === 404) return 'The gateway has no sign-in: `sign_in.issuer` is not configured there.'
  return `The gateway refuses (${status}): ${visible(messageIn(text).slice(0, LONGEST_SHOWN))}`
}
