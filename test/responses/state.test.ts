import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { stateOf } from '../support/cache-fixture.ts'
import { parseEvents } from '../support/events.ts'
import { startGateway } from '../support/gateway.ts'
import { send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { MODELS, openProviderFixture, type ProviderScenario } from '../support/provider-fixture.ts'
import { assertResponseStream, assertWhole } from '../support/response-rules.ts'
import { startKeeper } from './state-fixture.ts'

const KEYS = ['keeper-key-a', 'keeper-key-b', 'keeper-key-c']
const keeper = await startKeeper()
const section = { base_url: `${keeper.url}/v1`, keys: KEYS.map((api_key) => ({ api_key })), api: 'responses' }
const providers = { tries: 1, 'openai-compatible': { keeper: section } }
const fixture = await openProviderFixture({ config: { providers } })
const keeping = await openProviderFixture({
  config: { providers, responses: { keep: true, most_of_caller: 3, largest: '8KB' } },
})
test.after.always(async () => {
  await Promise.all([fixture.close(), keeping.close()])
  await keeper.close()
})

const MODEL = 'keeper/gpt-4o'
let callers = 0
const newCaller = () => `Bearer state-caller-${++callers}`

type Sender = Pick<ProviderScenario, 'send'>

function create(scenario: Sender, authorization: string, body: JsonObject, headers: Record<string, string> = {}) {
  return scenario.send({
    path: '/v1/responses',
    body: { model: MODEL, ...body },
    headers: { authorization, ...headers },
  })
}

function query(scenario: Sender, authorization: string, method: string, suffix: string) {
  return scenario.send({ method, path: `/v1/responses/${suffix}`, headers: { authorization } })
}

const textOf = (json: unknown) => String(valueAt(json, 'output.0.content.0.text'))
const idOf = (json: unknown) => String(valueAt(json, 'id'))

for (const stream of [false, true]) {
  test.serial(
    `state: a response goes back to its provider and key, for its caller alone (${stream ? 'SSE' : 'JSON'})`,
    async (t) => {
      const scenario = fixture.scenario()
      const caller = newCaller()
      const keys = new Set<string | undefined>()
      for (let n = 0; n < 6; n++) {
        const first = await create(scenario, caller, { input: `${t.title} ${n}`, stream })
        const whole = stream ? valueAt(parseEvents(first.body).at(-1)?.data, 'response') : first.json
        const id = idOf(whole)
        const made = keeper.calls.at(-1)
        keys.add(made?.key)
        const body = { input: 'and on', previous_response_id: id, stream }
        const next = await create(scenario, caller, body)
        t.is(next.status, 200, next.text)
        t.is(keeper.calls.at(-1)?.key, made?.key)
        t.is(keeper.calls.at(-1)?.body.previous_response_id, id)
        const calls = keeper.calls.length
        const others = await create(scenario, newCaller(), body)
        const unknown = await create(scenario, newCaller(), { ...body, previous_response_id: 'resp_never' })
        t.like(others, {
          status: 404,
          json: { error: { code: 'previous_response_not_found', param: 'previous_response_id' } },
        })
        t.deepEqual(valueAt(others.json, 'error'), valueAt(unknown.json, 'error'))
        t.is(keeper.calls.length, calls)
      }
      t.true(keys.size > 1)
    },
  )
}

test.serial('state: reading, listing and deleting are for the caller alone, and free', async (t) => {
  const scenario = fixture.scenario()
  const [caller, other] = [newCaller(), newCaller()]
  const id = idOf((await create(scenario, caller, { input: t.title })).json)
  const calls = keeper.calls.length
  for (const [method, suffix] of [
    ['GET', id],
    ['GET', `${id}/input_items`],
    ['DELETE', id],
    ['POST', `${id}/cancel`],
  ] as const) {
    const refused = await query(scenario, other, method, suffix)
    const unknown = await query(scenario, other, method, suffix.replace(id, 'resp_never'))
    t.is(refused.status, 404)
    t.deepEqual(valueAt(refused.json, 'error'), valueAt(unknown.json, 'error'))
    t.is((await query(scenario, '', method, suffix)).status, 401)
  }
  t.is(keeper.calls.length, calls)
  const read = await query(scenario, caller, 'GET', id)
  t.is(idOf(read.json), id)
  t.is(read.headers['x-svc-receipt'], undefined)
  t.is(valueAt((await query(scenario, caller, 'GET', `${id}/input_items`)).json, 'data.0.content'), t.title)
  t.like((await query(scenario, caller, 'DELETE', id)).json, { id, deleted: true })
  t.is((await query(scenario, caller, 'GET', id)).status, 404)
  t.is((await create(scenario, caller, { input: 'x', previous_response_id: id })).status, 404)
})

test.serial('state: what is not to be stored is sent as it is, and cannot be continued', async (t) => {
  const scenario = fixture.scenario()
  const caller = newCaller()
  const body = ` {"model":"${MODEL}", "input":"${t.title}","store": false}`
  const reply = await scenario.send({ path: '/v1/responses', body, headers: { authorization: caller } })
  t.is(keeper.calls.at(-1)?.body.store, false)
  const id = idOf(reply.json)
  t.is((await create(scenario, caller, { input: 'x', previous_response_id: id })).status, 404)
  t.is((await query(scenario, caller, 'GET', id)).status, 404)
  await create(scenario, caller, { input: t.title })
  t.is(keeper.calls.at(-1)?.body.store, undefined)
})

test.serial('state: a model of another provider cannot continue it, nor can a fallback there', async (t) => {
  const scenario = fixture.scenario()
  const caller = newCaller()
  const id = idOf((await create(scenario, caller, { input: t.title })).json)
  const refused = await create(scenario, caller, { model: MODELS.anthropic, input: 'x', previous_response_id: id })
  t.like(refused, { status: 400, json: { error: { param: 'previous_response_id' } } })
  t.regex(refused.text, /provider keeper/)
  t.is(scenario.seen('anthropic').length, 0)
})

test.serial('state: a provider that stores nothing refuses by the name of the option', async (t) => {
  const reply = await create(fixture.scenario(), newCaller(), {
    model: MODELS.anthropic,
    input: 'x',
    previous_response_id: 'resp_1',
  })
  const error = { code: 'previous_response_not_found', param: 'previous_response_id' }
  t.like(reply, { status: 400, json: { error } })
  t.regex(reply.text, /responses\.keep/)
})

test.serial('state: a cache distinguishes what a request continues', async (t) => {
  const scenario = fixture.scenario()
  const caller = newCaller()
  const pipe = { 'x-svc-pipe': 'exact-cache' }
  const ids = [
    idOf((await create(scenario, caller, { input: `${t.title} 1` })).json),
    idOf((await create(scenario, caller, { input: `${t.title} 2` })).json),
  ]
  const continued = (id: string | undefined) =>
    create(scenario, caller, { input: 'on', previous_response_id: id }, pipe)
  const replies = [await continued(ids[0]), await continued(ids[1]), await continued(ids[0])]
  t.deepEqual(replies.map(stateOf), ['miss', 'miss', 'hit'])
  t.is((await create(scenario, newCaller(), { input: 'on', previous_response_id: ids[0] }, pipe)).status, 404)
  // The stored reply can be continued too.
  t.is((await create(scenario, caller, { input: 'x', previous_response_id: idOf(replies[2]?.json) })).status, 200)
})

test.serial('state: a cap holds the tokens of what a request continues', async (t) => {
  const scenario = fixture.scenario()
  const caller = newCaller()
  const first = await create(scenario, caller, { input: 'word '.repeat(4000) })
  const tokens = Number(valueAt(first.json, 'usage.total_tokens'))
  t.true(tokens > 4000)
  // 2.50 USD per million: the own input alone fits, the continued one does not.
  const pipe = { 'x-svc-pipe': 'cost-guard?per_request=0.01' }
  const body = { input: 'on', max_output_tokens: 16 }
  t.is((await create(scenario, caller, body, pipe)).status, 200)
  const calls = keeper.calls.length
  const refused = await create(scenario, caller, { ...body, previous_response_id: idOf(first.json) }, pipe)
  t.is(refused.status, 429, refused.text)
  t.regex(refused.text, /cost_limit_per_request|cost/)
  const referred = await create(
    scenario,
    caller,
    {
      ...body,
      input: [
        { type: 'item_reference', id: 'msg_1' },
        { role: 'user', content: 'on' },
      ],
    },
    pipe,
  )
  t.is(referred.status, 429, referred.text)
  t.is(keeper.calls.length, calls)
  const results = { input: [{ type: 'function_call_output', call_id: 'c', output: 'done' }], max_output_tokens: 16 }
  const ample = { 'x-svc-pipe': 'cost-guard?per_request=1' }
  t.is((await create(scenario, caller, { ...body, previous_response_id: idOf(first.json) }, ample)).status, 200)
  const looped = await create(scenario, caller, { ...results, previous_response_id: idOf(first.json) }, ample)
  t.is(looped.status, 200, looped.text)
})

test.serial('state: a binding survives a restart, and ends with its key', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-state-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const caller = newCaller()
  const open = (keys: readonly string[]) =>
    startGateway({
      SVC_DATA_DIR: folder,
      SVC_CONFIG: configFile(folder, { ...section, keys: keys.map((api_key) => ({ api_key })) }),
      SVC_PIPELINE: 'none',
    })
  const through = (url: string): Sender => ({ send: (options) => send(url, options) })
  const first = await open(KEYS)
  const id = idOf((await create(through(first.url), caller, { input: t.title })).json)
  const key = keeper.calls.at(-1)?.key ?? ''
  await first.stop()
  const second = await open(KEYS)
  const body = { input: 'on', previous_response_id: id }
  t.is((await create(through(second.url), caller, body)).status, 200)
  t.is(keeper.calls.at(-1)?.key, key)
  await second.stop()
  const third = await open(KEYS.filter((other) => other !== key))
  t.is((await create(through(third.url), caller, body)).status, 404)
  await third.stop()
})

function configFile(folder: string, keeperSection: JsonObject): string {
  const file = path.join(folder, 'turnpike.yaml')
  writeFileSync(file, JSON.stringify({ providers: { tries: 1, 'openai-compatible': { keeper: keeperSection } } }))
  return file
}

for (const name of ['anthropic', 'openai', 'gemini', 'house'] as const) {
  test.serial(`state: the gateway stores for ${name} where it is set to`, async (t) => {
    const scenario = keeping.scenario()
    const caller = newCaller()
    const model = MODELS[name]
    const first = await create(scenario, caller, { model, input: 'My name is Ada.', instructions: 'Be brief.' })
    t.notThrows(() => assertWhole(first.json))
    t.is(valueAt(first.json, 'store'), true)
    t.is(first.headers['x-svc-dropped'], undefined)
    const body = { model, input: [{ role: 'user', content: 'Who am I?' }], previous_response_id: idOf(first.json) }
    const second = await create(scenario, caller, { ...body, stream: true })
    const whole = assertResponseStream(second.body)
    t.like(whole, { previous_response_id: idOf(first.json), store: true })
    const sent = JSON.stringify(scenario.seen(name).at(-1)?.json)
    for (const text of ['My name is Ada.', textOf(first.json), 'Who am I?']) t.true(sent.includes(text), text)
    t.false(sent.includes('Be brief.'))
    const third = await create(scenario, caller, { model, input: 'on', previous_response_id: idOf(whole) })
    t.is(third.status, 200)
    t.true(JSON.stringify(scenario.seen(name).at(-1)?.json).includes('My name is Ada.'))
    t.is((await create(scenario, newCaller(), { ...body })).status, 404)
  })
}

test.serial('state: a response that the gateway stores is read, listed and deleted by its caller', async (t) => {
  const scenario = keeping.scenario()
  const [caller, other] = [newCaller(), newCaller()]
  const first = await create(scenario, caller, { model: MODELS.anthropic, input: 'one' })
  const id = idOf(first.json)
  t.deepEqual((await query(scenario, caller, 'GET', id)).json, first.json)
  t.is((await query(scenario, other, 'GET', id)).status, 404)
  const second = await create(scenario, caller, { model: MODELS.anthropic, input: 'two', previous_response_id: id })
  const items = await query(scenario, caller, 'GET', `${idOf(second.json)}/input_items?limit=2&order=asc`)
  t.like(items.json, { object: 'list', has_more: true, data: [{ role: 'user' }, { role: 'assistant' }] })
  const rest = await query(
    scenario,
    caller,
    'GET',
    `${idOf(second.json)}/input_items?order=asc&after=${valueAt(items.json, 'last_id')}`,
  )
  t.like(rest.json, { has_more: false, data: [{ content: [{ type: 'input_text', text: 'two' }] }] })
  t.is((await query(scenario, other, 'DELETE', id)).status, 404)
  t.like((await query(scenario, caller, 'DELETE', id)).json, { id, deleted: true })
  t.is((await query(scenario, caller, 'GET', id)).status, 404)
})

test.serial('state: of a caller the newest responses are kept, of a size, and none with store: false', async (t) => {
  const scenario = keeping.scenario()
  const caller = newCaller()
  const model = MODELS.anthropic
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push(idOf((await create(scenario, caller, { model, input: `${t.title} ${n}` })).json))
  const statuses: number[] = []
  for (const id of ids) statuses.push((await query(scenario, caller, 'GET', id)).status)
  t.deepEqual(statuses.toSorted(), [200, 200, 200, 404, 404])
  const large = await create(scenario, caller, { model, input: 'x'.repeat(9000) })
  t.is((await query(scenario, caller, 'GET', idOf(large.json))).status, 404)
  const unstored = await create(scenario, caller, { model, input: t.title, store: false })
  t.is(valueAt(unstored.json, 'store'), false)
  t.is((await query(scenario, caller, 'GET', idOf(unstored.json))).status, 404)
})
