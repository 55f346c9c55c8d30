import test from 'ava'
import { bearer, CLOUD, createKey, sendAs } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'

/** Each request has a connection of its own, and workers take them in turn. */
const SEVERAL = 6
const SESSION = { 'x-claude-code-session-id': 'a-session-of-two-users' }

test('conversations: two workers have one conversation for a session, which its owner alone sees', async (t) => {
  const gateway = await startGatewayProcess(CLOUD, { args: ['--workers', '2'] })
  t.teardown(() => gateway.stop())
  const users = ['ada', 'ben']
  for (const user of users) {
    const { key } = await createKey(gateway, user)
    for (let i = 0; i < SEVERAL; i++) {
      const body = { model: 'demo/echo', max_tokens: 50, messages: [{ role: 'user', content: `${user} ${i}` }] }
      const reply = await send(gateway.url, { headers: { ...bearer(key), ...SESSION }, body })
      t.is(reply.status, 200, reply.text)
    }
  }
  const get = (user: string, path: string) =>
    sendAs(user, gateway.url, { method: 'GET', path: `/dashboard/api/conversations${path}` })
  const ids: string[] = []
  for (const user of users) {
    await eventually(
      async () => valueAt((await get(user, '')).json, 'data.0.totals.turns') === SEVERAL,
      `the conversation of ${user}`,
    )
    const { json } = await get(user, '')
    t.is(valueAt(json, 'data.1'), undefined)
    const id = String(valueAt(json, 'data.0.id'))
    ids.push(id)
    const turns = valueAt((await get(user, `/${id}`)).json, 'turns.data')
    t.deepEqual(
      Array.isArray(turns) && turns.map((turn) => turn.number),
      Array.from({ length: SEVERAL }, (_, index) => index + 1),
    )
  }
  t.not(ids[0], ids[1])
  for (const path of [`/${ids[0]}`, `/${ids[0]}/turns.jsonl`]) {
    t.is((await get('ada', path)).status, 200)
    t.is((await get('ben', path)).status, 404)
  }
})
