import { hostname } from 'node:os'
import { z } from 'zod'
import { CommandError } from '../exit-codes.ts'
import { messageIn, send } from '../remote/gateway.ts'
import { savedSession, saveSession } from '../remote/saved-sessions.ts'
import { visible } from '../terminal/visible.ts'

/** Age at which a key is replaced. The one before it is revoked then, so that a running client may finish with it. */
const FRESH_MS = 12 * 60 * 60_000
const LONGEST_SHOWN = 300

const created = z.object({ id: z.string(), key: z.string() })
const listed = z.object({ keys: z.array(z.object({ id: z.string(), revokedAt: z.string().nullish() })) })

/**
 * Returns an API key of the signed-in user for this machine: the saved one while it is in force and less than 12 hours old,
 * else a new one. Throws `CommandError` without a session.
 */
export async function freshKey(url: string): Promise<string> {
  const saved = savedSession(url)
  if (saved === undefined) throw new CommandError(1, `Not signed in. Run: turnpike login ${url}`)
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${saved.token}`, 'content-type': 'application/json' }
    const reply = await send({ url, headers: {} }, path, { ...init, headers })
    if (reply.status === 401) throw new CommandError(1, `The session has ended. Run: turnpike login ${url}`)
    return reply
  }
  const { key, previousKeyId } = saved
  if (key !== undefined && Date.now() - key.createdAtMs < FRESH_MS) {
    const { keys } = listed.parse(await jsonOf(await call('/v1/keys')))
    if (keys.some(({ id, revokedAt }) => id === key.id && !revokedAt)) return key.key
  }
  const body = JSON.stringify({ name: `turnpike login on ${hostname()}`.slice(0, 100) })
  const next = created.parse(await jsonOf(await call('/v1/keys', { method: 'POST', body })))
  saveSession(url, {
    ...saved,
    key: { ...next, createdAtMs: Date.now() },
    ...(key !== undefined && { previousKeyId: key.id }),
  })
  if (previousKeyId !== undefined) await call(`/v1/keys/${encodeURIComponent(previousKeyId)}`, { method: 'DELETE' })
  return next.key
}

async function jsonOf(reply: Response): Promise<unknown> {
  const text = await reply.text()
  if (reply.ok) return JSON.parse(text)
  throw new CommandError(
    1,
    `The gateway refuses (${reply.status}): ${visible(messageIn(text).slice(0, LONGEST_SHOWN))}`,
  )
}
