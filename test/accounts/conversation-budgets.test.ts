import { bearer, createKey, sendAs } from '../support/accounts.ts'
import { fleets } from '../support/fleet.ts'
import type { Gateway } from '../support/gateway.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { DEFAULT_PIPELINE } from '../support/pipelines.ts'

const BOSS = 'boss'
/** Costs something before it is answered. */
const PRICED = ask('hi', { model: 'claude-sonnet-4-5' })
/** In USD: less than that. */
const TINY = 0.000001
const NO_CREDENTIAL = 401

let users = 0

function use({ url }: Gateway, key: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
  return send(url, { body: PRICED, headers: { ...bearer(key), 'x-claude-code-session-id': 'one', ...headers } })
}

function raise({ url }: Gateway, userId: string, id: string, body: JsonObject = { by: 1 }): Promise<Reply> {
  return sendAs(userId, url, { method: 'POST', path: `/dashboard/api/conversations/${id}/budgets`, body })
}

for (const fleet of fleets({ SVC_SESSION_OPERATOR_CLAIM: `sub=${BOSS}` })) {
  fleet.test('a key’s budgets of conversations are kept, whatever pipeline is asked for', async (t) => {
    const { next } = await fleet.open()
    for (const [limits, type] of [
      [{ costPerConversation: TINY }, 'cost_limit_per_conversation'],
      [{ costPerAgent: TINY }, 'cost_limit_per_agent'],
      [{ costPerRun: TINY }, 'cost_limit_per_run'],
      [{ turnsPerConversation: 0 }, 'turn_limit_per_conversation'],
      [{ tokensPerConversation: 1 }, 'token_limit_per_conversation'],
    ] as const) {
      const { key } = await createKey(next(), `budgeted-${++users}`, { limits })
      for (const pipe of ['none', 'exact-cache', DEFAULT_PIPELINE, 'cost-guard?per_run=1000']) {
        const refused = await use(next(), key, { 'x-svc-pipe': pipe })
        t.is(refused.status, 429, `${pipe} ${refused.text}`)
        t.is(valueAt(refused.json, 'error.type'), type)
      }
    }
    for (const limits of [{ turnsPerConversation: 1.5 }, { secondsPerConversation: 59 }, { costPerRun: -1 }])
      await t.throwsAsync(createKey(next(), `budgeted-${++users}`, { limits }), { message: /400/ })
  })

  fleet.test(
    'a conversation is raised by the owner of its key and by operators, on every gateway at once',
    async (t) => {
      const { gateways, next } = await fleet.open()
      const owner = `owner-${++users}`
      const { id: keyId, key } = await createKey(next(), owner, { limits: { costPerConversation: TINY } })
      const id = String(valueAt((await use(next(), key)).json, 'error.conversation'))
      t.is((await raise(next(), `stranger-${++users}`, id)).status, 404)
      const withKey = await send(next().url, {
        method: 'POST',
        path: `/dashboard/api/conversations/${id}/budgets`,
        body: { by: 1 },
        headers: bearer(key),
      })
      t.is(withKey.status, NO_CREDENTIAL, 'an agent has the key, and cannot raise its own budget')
      for (const gateway of gateways) t.is((await use(gateway, key)).status, 429)
      const raised = await raise(next(), owner, id)
      t.like(raised.json, { limit: 1 + TINY, raised: 1 })
      // There is no credential of the provider: the request has passed the guard.
      for (const gateway of gateways) t.is((await use(gateway, key)).status, NO_CREDENTIAL)
      t.like((await raise(next(), BOSS, id, { to: 3 })).json, { limit: 3 })
      const list = await sendAs(owner, next().url, {
        method: 'GET',
        path: `/dashboard/api/conversations/${id}/budgets`,
      })
      t.like(list.json, { data: [{ budget: 'per_conversation', limit: 3, spent: 0, held: 0 }] })
      t.regex(keyId, /^key_/)
    },
  )
}
