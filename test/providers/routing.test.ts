import test from 'ava'
import { chat } from '../support/chat-bodies.ts'
import { logLineOf, ROUTES, refusalOfStart, sendChat } from '../support/door.ts'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import type { SeenRequest } from '../support/provider/journal.ts'
import { openProviderFixture, PROVIDERS, type ProviderName } from '../support/provider-fixture.ts'

const fixture = await openProviderFixture({
  config: {
    models: {
      fast: 'house/qwen3-32b',
      'team/large': 'claude-sonnet-4-5',
      pair: ['openai/gpt-4o', 'house/qwen3-32b'],
      'gpt-5-mini': ['gpt-5-mini', 'house/qwen3-32b'],
      'openai/gpt-4o-mini': 'house/mini',
    },
    providers: { default: 'house', tries: 1 },
  },
})
test.after.always(() => fixture.close())

const routed: [claim: string, model: string, provider: ProviderName, asked: string][] = [
  ['a prefix', 'openai/gpt-4o', 'openai', 'gpt-4o'],
  ['a prefix', 'anthropic/claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5'],
  ['a prefix', 'gemini/gemini-2.5-flash', 'gemini', 'gemini-2.5-flash'],
  ['a prefix of the operator’s own', 'house/qwen3-32b', 'house', 'qwen3-32b'],
  ['a prefix before a name with a slash', 'house/org/model', 'house', 'org/model'],
  ['a prefix before another’s', 'house/openai/gpt-4o', 'house', 'openai/gpt-4o'],
  ['a prefix against the form of the name', 'house/claude-sonnet-4-5', 'house', 'claude-sonnet-4-5'],
  ['the form of its name', 'gpt-4o', 'openai', 'gpt-4o'],
  ['the form of its name', 'o3', 'openai', 'o3'],
  ['the form of its name', 'claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5'],
  ['the form of its name', 'gemini-2.5-flash', 'gemini', 'gemini-2.5-flash'],
  ['the default provider', 'mystery', 'house', 'mystery'],
  ['the default provider, where a name only looks like the form', 'o30-claude-gpt-', 'house', 'o30-claude-gpt-'],
  ['an alias', 'fast', 'house', 'qwen3-32b'],
  ['an alias with a slash', 'team/large', 'anthropic', 'claude-sonnet-4-5'],
  ['an alias of several, to the first', 'pair', 'openai', 'gpt-4o'],
  ['a route for a model’s own name', 'gpt-5-mini', 'openai', 'gpt-5-mini'],
  ['a route for a name with a provider’s prefix', 'openai/gpt-4o-mini', 'house', 'mini'],
]

const modelAsked = ({ json, url }: SeenRequest) => json?.model ?? /models\/([^:]+):/.exec(url)?.[1]

for (const [route, path] of Object.entries(ROUTES)) {
  for (const [claim, model, provider, asked] of routed) {
    test(`routing: ${route}: ${model} goes to ${provider}, by ${claim}`, async (t) => {
      const scenario = fixture.scenario()
      const body = route === 'chat' ? chat('hi', { model }) : ask('hi', { model })
      const reply = await scenario.send({ path, body })
      t.is(reply.status, 200, reply.text)
      t.is(reply.headers['x-svc-model'], `${provider}/${asked}`)
      const seen = PROVIDERS.map((name) => [name, scenario.seen(name).map(modelAsked)])
      t.deepEqual(
        seen,
        PROVIDERS.map((name) => [name, name === provider ? [asked] : []]),
      )
    })
  }

  test(`routing: ${route}: an unknown prefix is answered 400 with the nearest provider`, async (t) => {
    const scenario = fixture.scenario()
    const model = 'opnai/gpt-4o'
    const reply = await scenario.send({ path, body: route === 'chat' ? chat('hi', { model }) : ask('hi', { model }) })
    t.is(reply.status, 400)
    t.regex(String(valueAt(reply.json, 'error.message')), /^model: .*`opnai`.*Did you mean `openai`\?/)
    t.deepEqual(
      PROVIDERS.flatMap((name) => scenario.seen(name)),
      [],
    )
  })
}

test('routing: an unknown prefix of a chat request is the fault of `model`', async (t) => {
  const reply = await sendChat(fixture.scenario(), chat('hi', { model: 'nobody/gpt-4o' }))
  t.like(reply.json, { type: 'error', error: { type: 'invalid_request', param: 'model' } })
})

test('routing: tokens are counted by the provider that an alias leads to, under its own name of the model', async (t) => {
  const scenario = fixture.scenario()
  const { max_tokens: _, ...body } = ask('hi', { model: 'team/large' })
  const reply = await scenario.send({ path: '/v1/messages/count_tokens', body })
  t.is(reply.status, 200, reply.text)
  t.is(scenario.seen('anthropic')[0]?.json?.model, 'claude-sonnet-4-5')
})

for (const [claim, model, header] of [
  ['outside ASCII', 'house/modèle-日本', 'house/mod%C3%A8le-%E6%97%A5%E6%9C%AC'],
  ['with line ends', 'house/a\r\nx-evil: 1', 'house/a%0D%0Ax-evil:%201'],
  ['with half a surrogate pair', 'house/\ud83d', 'house/%EF%BF%BD'],
] as const) {
  test(`routing: a model’s name ${claim} is sent in a header that cannot be split`, async (t) => {
    const reply = await sendChat(fixture.scenario(), chat('hi', { model }))
    t.is(reply.status, 200, reply.text)
    t.is(reply.headers['x-svc-model'], header)
    t.is(reply.headers['x-evil'], undefined)
  })
}

test('routing: a model’s name that is too long for a header does not cost the client its reply', async (t) => {
  const reply = await sendChat(fixture.scenario(), chat('hi', { model: `house/${'x'.repeat(990)}` }))
  t.is(reply.status, 200, reply.error?.message)
  t.regex(String(reply.headers['x-svc-model']), /^house\/x{100}/)
})

test('routing: the log lists the calls when several providers were called', async (t) => {
  const scenario = fixture.scenario({ openai: { kind: 'error', status: 500 } })
  const reply = await sendChat(scenario, chat('hi', { model: 'pair' }))
  t.is(reply.headers['x-svc-model'], 'house/qwen3-32b')
  const line = await logLineOf(fixture.gateway, reply)
  t.like(line, { model: 'pair', status: 200, calls: 'openai/gpt-4o:failed house/qwen3-32b:200' })
})

test('routing: a route to a provider that is not there fails the start, and the line names it', async (t) => {
  const message = await refusalOfStart({ models: { fast: 'opnai/gpt-4o' } })
  t.regex(message, /turnpike cannot start/)
  t.regex(message, /`models`: .*`opnai`.*Did you mean `openai`/)
  t.notRegex(message, /\n\s+at /)
})

test('routing: a default provider that is not there fails the start, and the line names it', async (t) => {
  t.regex(await refusalOfStart({ providers: { default: 'nobody' } }), /`providers`.*Unknown provider `nobody`/)
})

for (const [prefix, setting] of [
  ['groq', 'GROQ_API_KEY'],
  ['ollama', 'OLLAMA_BASE_URL'],
  ['bedrock', 'BEDROCK_REGION'],
  ['vertex', 'VERTEX_PROJECT'],
] as const) {
  test(`routing: ${prefix}/… without its setting names ${setting}`, async (t) => {
    const reply = await fixture.scenario().send({ body: ask('hi', { model: `${prefix}/some-model` }) })
    t.is(reply.status, 400)
    t.regex(
      String(valueAt(reply.json, 'error.message')),
      new RegExp(`\`${prefix}\` is not set up here. Set ${setting}`),
    )
  })
}
