import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { openFixture } from '../support/fixture.ts'
import { ask, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { rowOf } from '../support/telemetry.ts'

const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-tags-'))
const fixture = await openFixture({
  // The provider's headers may not include tags, whatever the operator forwards.
  config: { providers: { forward_headers: ['x-*', 'x-svc-tag'] } },
  env: { SVC_PIPELINE: 'exact-cache', SVC_DATA_DIR: dataDir },
})
test.after.always(async () => {
  await fixture.close()
  await rm(dataDir, { recursive: true, force: true })
})

const tagged = (tags: string) => ({ 'x-svc-tag': tags })

test('tags: those of the header are in the row, the log and the file of requests, sorted and each once', async (t) => {
  const reply = await fixture
    .scenario()
    .send({ body: ask('a tagged one'), headers: tagged(' web.shop ,team_a,web.shop,, b-2') })
  t.is(reply.status, 200)
  const row = await rowOf(dataDir, reply.headers['x-svc-receipt'])
  t.is(row.tags, '["b-2","team_a","web.shop"]')
  const file = await send(fixture.gateway.url, { method: 'GET', path: '/dashboard/api/requests.csv' })
  const [head = '', ...lines] = file.text.split('\r\n')
  t.true(head.endsWith(',user_id,team_id,tags,key_name,user_name,team_name'), head)
  t.true(
    lines.some((line) => line.startsWith(String(row.id)) && line.endsWith(',,,b-2 team_a web.shop,,,')),
    file.text,
  )
  const isLogged = () => fixture.gateway.log().includes('"tags":"b-2 team_a web.shop"')
  await eventually(isLogged, 'the log line of the request')
})

test('tags: no provider receives them, and requests with different tags share a cached reply', async (t) => {
  const scenario = fixture.scenario()
  const body = ask('the same for all')
  const first = await scenario.send({ body, headers: { ...tagged('one'), 'x-mine': 'kept' } })
  const second = await scenario.send({ body, headers: { ...tagged('two'), 'x-mine': 'kept' } })
  t.deepEqual([first.headers['x-svc-cache'], second.headers['x-svc-cache']], ['miss', 'hit'])
  const [seen] = scenario.seen()
  t.is(seen?.headers['x-mine'], 'kept')
  t.is(seen?.headers['x-svc-tag'], undefined)
})

const MANY = Array.from({ length: 9 }, (_, n) => `t${n}`).join()
for (const [what, header, got] of [
  ['capitals', 'Web', 'got `Web`'],
  ['spaces', 'a b', 'got `a b`'],
  ['a leading dot', '.a', 'got `.a`'],
  ['41 characters', 'a'.repeat(41), `got \`${'a'.repeat(40)}\``],
  ['nine tags', MANY, 'got more than 8'],
  ['another nine', `${MANY},${MANY}`, 'got more than 8'],
] as const)
  test(`tags: ${what} are refused with what is expected`, async (t) => {
    const scenario = fixture.scenario()
    const reply = await scenario.send({ body: ask('hi'), headers: tagged(header) })
    t.is(reply.status, 400)
    const message = String(valueAt(reply.json, 'error.message'))
    t.true(message.startsWith('x-svc-tag: expected up to 8 tags') && message.includes(got), message)
    t.deepEqual(scenario.seen(), [])
  })

test('tags: a credential is no tag', async (t) => {
  const headers = { authorization: 'Bearer a-secret-of-mine', ...tagged('a-secret-of-mine') }
  const reply = await fixture.scenario().send({ body: ask('hi'), headers })
  t.is(reply.status, 400)
  t.regex(String(valueAt(reply.json, 'error.message')), /holds a credential/)
})

test('tags: metrics count each of the first 200 by its name, and the rest together', async (t) => {
  const scenario = fixture.scenario()
  const body = ask('counted')
  for (let n = 0; n < 26; n++) {
    const tags = Array.from({ length: 8 }, (_, index) => `counted-${n}-${index}`).join()
    await scenario.send({ body, headers: tagged(tags) })
  }
  const metrics = async () => (await send(fixture.gateway.url, { method: 'GET', path: '/metrics' })).text
  const counted = async () => [...(await metrics()).matchAll(/^turnpike_tag_requests_total\{tag="([^"]+)"\} (\d+)$/gm)]
  await eventually(async () => {
    const names = await counted()
    return names.length === 201 && names.some(([, name, value]) => name === 'other' && Number(value) >= 8)
  }, '200 tags and the others')
  t.true((await metrics()).includes('turnpike_tag_cost_usd_total{tag="counted-0-0"}'))
})
