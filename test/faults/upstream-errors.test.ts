import test from 'ava'
import { chat, streamed } from '../support/chat-bodies.ts'
import { ROUTES } from '../support/door.ts'
import { ask } from '../support/http-client.ts'
import { MODELS, openProviderFixture, type ProviderName, type ScenarioScripts } from '../support/provider-fixture.ts'

const fixture = await openProviderFixture({ config: { models: { pair: ['claude-sonnet-4-5', 'gpt-4o'] } } })
test.after.always(() => fixture.close())

const NAMES: readonly ProviderName[] = ['anthropic', 'openai', 'gemini', 'house']
const everywhere = (script: ScenarioScripts['anthropic'] & ScenarioScripts['gemini'] & ScenarioScripts['openai']) =>
  Object.fromEntries(NAMES.map((name) => [name, script]))

for (const name of NAMES)
  for (const [route, path] of Object.entries(ROUTES))
    for (const stream of [false, true]) {
      const model = MODELS[name]
      const plain = route === 'chat' ? chat('hi', { model }) : ask('hi', { model })
      const body = stream ? streamed(plain) : plain
      const which = `${name}, ${route}, stream: ${stream}`

      test(`upstream errors: x-should-retry: false ends the tries, and reaches the client (${which})`, async (t) => {
        const headers = { 'x-should-retry': 'false' }
        const scenario = fixture.scenario(everywhere({ kind: 'error', status: 500, headers }))
        const reply = await scenario.send({ path, body })
        t.is(scenario.seen(name).length, 1)
        t.is(reply.status, 502)
        t.is(reply.headers['x-should-retry'], 'false')
      })

      test(`upstream errors: 502 after the last try ends the client's tries and names the failure (${which})`, async (t) => {
        const headers = { 'retry-after': '0', 'request-id': 'req_of_provider' }
        const scenario = fixture.scenario(everywhere({ kind: 'error', status: 503, headers }))
        const reply = await scenario.send({ path, body })
        t.is(scenario.seen(name).length, 3)
        t.is(reply.status, 502)
        t.like(reply.headers, { 'x-should-retry': 'false', 'retry-after': '0' })
        t.like(reply.json, {
          type: 'error',
          error: { type: 'upstream_error', provider: { name, status: 503, request_id: 'req_of_provider' } },
        })
        const { type } = (reply.json as { error: { provider: { type: unknown } } }).error.provider // safe: checked above
        t.regex(String(type), /^[A-Za-z_]+$/)
      })
    }

test('upstream errors: a provider that cannot be reached has neither status nor id', async (t) => {
  const scenario = fixture.scenario(everywhere({ kind: 'break', at: 'before-headers' }))
  const reply = await scenario.send({ body: ask('hi') })
  t.like(reply.json, { error: { provider: { name: 'anthropic', status: null, type: null, request_id: null } } })
  t.is(reply.headers['x-should-retry'], 'false')
  t.is(reply.headers['retry-after'], undefined)
})

test('upstream errors: an answer that breaks off is named by its status and id', async (t) => {
  const headers = { 'request-id': 'req_of_provider' }
  const scenario = fixture.scenario({ anthropic: { kind: 'answer', headers, cutAfterBytes: 40 } })
  const reply = await scenario.send({ body: ask('hi') })
  t.is(reply.status, 502)
  t.like(reply.json, {
    error: { provider: { name: 'anthropic', status: 200, type: null, request_id: 'req_of_provider' } },
  })
  t.is(reply.headers['x-should-retry'], 'false')
})

test('upstream errors: the error of an earlier try is not lost when the last one breaks', async (t) => {
  const scenario = fixture.scenario({
    anthropic: (nth) =>
      nth === 1
        ? { kind: 'error', status: 529, headers: { 'retry-after': '0' } }
        : { kind: 'break', at: 'before-headers' },
  })
  const reply = await scenario.send({ body: ask('hi') })
  t.like(reply.json, { error: { provider: { status: 529, type: 'overloaded_error' } } })
  t.is(reply.headers['retry-after'], '0')
})

test('upstream errors: a 429 with x-should-retry: false is not waited for', async (t) => {
  const headers = { 'x-should-retry': 'false', 'retry-after': '0' }
  const scenario = fixture.scenario({ anthropic: { kind: 'error', status: 429, headers } })
  const reply = await scenario.send({ body: ask('hi') })
  t.is(scenario.seen('anthropic').length, 1)
  t.is(reply.status, 429)
  t.like(reply.headers, headers)
})

test('upstream errors: another provider of a list is called nevertheless: the error was not its own', async (t) => {
  const scenario = fixture.scenario({
    anthropic: { kind: 'error', status: 500, headers: { 'x-should-retry': 'false' } },
  })
  const reply = await scenario.send({ body: ask('hi', { model: 'pair' }) })
  t.is(reply.status, 200)
  t.is(scenario.seen('anthropic').length, 1)
})
