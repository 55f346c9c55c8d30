import test from 'ava'
import { refusalOfStart, sendChat } from '../support/door.ts'
import { startGateway } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { openProviderFixture } from '../support/provider-fixture.ts'

const fixture = await openProviderFixture({
  config: {
    providers: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own form of variables
      anthropic: { keys: [{ api_key: '${TEAM_KEY}' }] },
      'openai-compatible': { local: { base_url: 'http://127.0.0.1:1/v1' } },
    },
  },
  env: { ANTHROPIC_API_KEY: '', TEAM_KEY: 'sk-ant-of-the-team', GROQ_API_KEY: 'gsk_key', GEMINI_API_KEY: '' },
})
test.after.always(() => fixture.close())

test('health: shows each provider, and whether it has a credential', async (t) => {
  const { json } = await fixture.scenario().send({ method: 'GET', path: '/health' })
  t.like(valueAt(json, 'providers'), {
    anthropic: true,
    openai: true,
    gemini: false,
    house: true,
    local: false,
    groq: true,
  })
})

test('health: startedAt is the start of the process, before its modules were loaded', async (t) => {
  await using gateway = await startGatewayProcess()
  const { json } = await send(gateway.url, { method: 'GET', path: '/health' })
  const [startedAt, uptime] = [Number(valueAt(json, 'startedAt')), Number(valueAt(json, 'uptime'))]
  t.true(Number.isSafeInteger(startedAt))
  t.true(startedAt + uptime * 1000 <= Date.now() + 50, `${startedAt + uptime * 1000 - Date.now()} ms too late`)
})

test('health: a preset is there only when its variable is set', async (t) => {
  const { json } = await fixture.scenario().send({ method: 'GET', path: '/health' })
  const names = Object.keys(Object(valueAt(json, 'providers')))
  for (const preset of ['mistral', 'openrouter', 'ollama', 'vllm']) t.false(names.includes(preset), preset)
})

test('health: without any configuration no provider has a credential, and no preset is there', async (t) => {
  await using gateway = await startGateway()
  const { json } = await send(gateway.url, { method: 'GET', path: '/health' })
  const providers = Object(valueAt(json, 'providers'))
  t.like(providers, { anthropic: false, openai: false, gemini: false })
  t.true(Object.values(providers).every((configured) => configured === false))
  t.false('groq' in providers)
})

test('health: shows no credential', async (t) => {
  const { text } = await fixture.scenario().send({ method: 'GET', path: '/health' })
  t.notRegex(text, /gsk_key|sk-ant-of-the-team|operator-key/)
})

test('configuration: a variable in the file is read from the environment', async (t) => {
  const scenario = fixture.scenario()
  t.is((await scenario.send({ body: ask('hi') })).status, 200)
  t.is(scenario.seen('anthropic')[0]?.headers['x-api-key'], 'sk-ant-of-the-team')
})

test('configuration: a service without a credential of the operator’s is called without one', async (t) => {
  const reply = await sendChat(fixture.scenario(), { model: 'local/x', messages: [{ role: 'user', content: 'hi' }] })
  t.is(reply.status, 502)
})

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: the configuration's own form of variables
const refused: [claim: string, config: object, expected: RegExp][] = [
  [
    'a variable that is not set',
    { providers: { openai: { api_key: '${NOT_SET_KEY}' } } },
    /`providers\.openai\.api_key`.*NOT_SET_KEY is not set/,
  ],
  [
    'an unknown option of a provider',
    { providers: { openai: { base_ur: 'http://x' } } },
    /unknown option `providers\.openai\.base_ur`.*Did you mean `base_url`/,
  ],
  [
    'an unknown option of a preset',
    { providers: { 'openai-compatible': { groq: { api_keey: 'gsk_1' } } } },
    /unknown option `providers\.openai-compatible\.groq\.api_keey`.*Did you mean `api_key`/,
  ],
  [
    'an unknown option of a service of one’s own',
    { providers: { 'openai-compatible': { mine: { base_url: 'http://x', heades: {} } } } },
    /unknown option `providers\.openai-compatible\.mine\.heades`/,
  ],
  [
    'a service without its address',
    { providers: { 'openai-compatible': { mine: {} } } },
    /openai-compatible\.mine\.base_url`/,
  ],
  [
    'a service with a name that can be no prefix',
    { providers: { 'openai-compatible': { 'My/Own': { base_url: 'http://x' } } } },
    /My\/Own.*expected a name/,
  ],
  ['an unknown kind of provider', { providers: { antropic: {} } }, /unknown option `providers\.antropic`.*`anthropic`/],
]
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above
for (const [claim, config, expected] of refused) {
  test(`configuration: ${claim} fails the start and is named`, async (t) => {
    const message = await refusalOfStart({ ...config })
    t.regex(message, expected)
    t.notRegex(message, /gsk_1|\n\s+at /)
  })
}
