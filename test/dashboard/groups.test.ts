import test from 'ava'
import { mintSessionToken } from '../../src/accounts/sessions/mint.ts'
import { bearer, CLOUD, createKey, SESSION_SECRET, sessionToken } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { openFixture } from '../support/fixture.ts'
import { ask, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'

/*
 * Requests of two users in groups: each sees sums of their own keys alone, and a group leads to the list of its requests.
 */
const fixture = await openFixture({ env: { ...CLOUD, SVC_SESSION_OPERATOR_CLAIM: 'azp=operators' } })
const { url } = fixture.gateway

const [ada, ben] = await Promise.all([createKey({ url }, 'ada'), createKey({ url }, 'ben')])
const pinned = { secret: SESSION_SECRET, userClaim: 'sub', issuer: undefined, audience: undefined }
const tokens = {
  ada: await sessionToken('ada'),
  ben: await sessionToken('ben'),
  stranger: await sessionToken('stranger'),
  operator: await mintSessionToken({ ...pinned, userId: 'op', azp: ['operators'], nowMs: Date.now(), ttlMs: 600_000 }),
}
const scenario = fixture.scenario()
const asks = [
  [ada.key, 'one', 'web,shop', 'exact-cache'],
  [ada.key, 'two', 'web', 'none'],
  [ben.key, 'three', 'shop', 'none'],
] as const
for (const [key, text, tag, pipe] of asks)
  await scenario.send({ body: ask(text), headers: { ...bearer(key), 'x-svc-tag': tag, 'x-svc-pipe': pipe } })
await scenario.send({ body: { ...ask('four'), model: 'nowhere/at-all' }, headers: bearer(ada.key) })

type Who = keyof typeof tokens
const get = async (who: Who, path: string) => {
  const { json, text, status } = await send(url, {
    method: 'GET',
    path: `/dashboard/api/${path}`,
    headers: bearer(tokens[who]),
  })
  return { json, text, status }
}
/** Names of groups with their requests, sorted. */
const groups = async (who: Who, query: string) => {
  const { json } = await get(who, `groups?${query}`)
  const data = valueAt(json, 'data') as { name: string; requests: number }[] // safe: the test fails otherwise
  return data.map(({ name, requests }) => `${name} ${requests}`).sort()
}
const total = async (who: Who, query: string) => valueAt((await get(who, `groups?${query}`)).json, 'total.requests')
const listed = async (who: Who, query: string) =>
  (valueAt((await get(who, `requests?${query}`)).json, 'data') as unknown[]).length // safe: the test fails otherwise

await eventually(async () => (await total('operator', '')) === 4, 'all rows')
test.after.always(() => fixture.close())

test('groups: each caller has those of their own keys, an operator those of all', async (t) => {
  t.deepEqual(await groups('ada', 'by=key'), [`${ada.id} 3`])
  t.deepEqual(await groups('ben', 'by=person'), ['ben 1'])
  t.deepEqual(await groups('operator', 'by=person'), ['ada 3', 'ben 1'])
  t.deepEqual(await groups('ben', `by=tag&key=${ada.id}`), [])
  t.deepEqual(await groups('stranger', 'by=model'), [])
  t.deepEqual(await groups('ada', 'by=tag'), ['- 1', 'shop 1', 'web 2'])
  t.deepEqual(await groups('operator', 'by=module'), ['- 3', 'exact-cache 1'])
  t.deepEqual(await groups('operator', 'by=team'), ['- 4'])
  t.is((await groups('operator', 'by=conversation')).length, 4)
})

test('groups: each leads to its requests, whose total counts each once', async (t) => {
  for (const by of ['key', 'person', 'team', 'tag', 'client', 'model', 'provider', 'module', 'conversation', 'reason'])
    for (const group of await groups('operator', `by=${by}&range=24h&tz=Asia/Kolkata`)) {
      const [name = '', requests] = group.split(' ')
      const query = `${by}=${encodeURIComponent(name)}&range=24h&tz=Asia/Kolkata`
      t.is(await listed('operator', query), Number(requests), group)
      t.is(await total('operator', `${query}&of=rows`), Number(requests), group)
    }
  t.is(await total('ada', 'by=tag'), 3)
})

test('groups: refused requests are found, and are in groups by their reason', async (t) => {
  t.deepEqual(await groups('ada', 'by=reason&ended=refused'), ['invalid_request 1'])
  t.is(await listed('ada', 'ended=refused'), 1)
  t.is(await listed('ada', 'reason=invalid_request'), 1)
  t.is(await listed('ben', 'ended=refused'), 0)
})

test('groups: the overview is filtered as well, on the clock of a zone', async (t) => {
  const { json } = await get('operator', 'overview?range=today&tz=Asia/Kathmandu&tag=shop')
  const sums = valueAt(json, 'sums') as { fromMs: number; requests: number }[] // safe: the test fails otherwise
  t.is(
    sums.reduce((sum, { requests }) => sum + requests, 0),
    2,
  )
  t.is((Number(valueAt(json, 'fromMs')) / 60_000) % 60, 15)
  t.true(sums.every(({ fromMs }) => (valueAt(json, 'steps') as number[]).includes(fromMs)))
})

test('groups: files have all that matches', async (t) => {
  const { text } = await get('operator', 'requests.jsonl?tag=web')
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.deepEqual(
    rows.map(({ userId, tags }) => [userId, tags]),
    [
      ['ada', ['web']],
      ['ada', ['shop', 'web']],
    ],
  )
  t.is((await get('ben', 'requests.jsonl?tag=web')).text, '')
  t.regex(
    (await get('operator', 'groups.csv?by=person')).text,
    /^name,title,requests,[^\r]*\r\n(ben,,1,.*\r\n)?ada,,3,/,
  )
})

for (const query of ['by=nothing', 'tz=Mars/Olympus', 'from=yesterday', 'range=1y', 'person=', 'unknown=1'])
  test(`groups: refuses ${query}`, async (t) => {
    t.is((await get('ada', `groups?${query}`)).status, 400)
  })
