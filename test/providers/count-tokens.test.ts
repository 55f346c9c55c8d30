import test from 'ava'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { MODELS, openProviderFixture } from '../support/provider-fixture.ts'

const fixture = await openProviderFixture({ config: { providers: { tries: 1 } } })
test.after.always(() => fixture.close())

const PATH = '/v1/messages/count_tokens'
const TEXT = 'The quick brown fox jumps over the lazy dog. '

for (const name of ['openai', 'house'] as const) {
  const model = MODELS[name]

  test(`count tokens: for ${name} they are estimated, which a header reports, and no provider is called`, async (t) => {
    const scenario = fixture.scenario()
    const reply = await scenario.send({ path: PATH, body: ask(TEXT.repeat(100), { model }) })
    t.is(reply.status, 200, reply.text)
    t.deepEqual(Object.keys(Object(reply.json)), ['input_tokens'])
    const tokens = Number(valueAt(reply.json, 'input_tokens'))
    t.true(tokens > 900 && tokens < 1150, `${tokens}`)
    t.like(reply.headers, { 'content-type': 'application/json', 'x-svc-estimated': 'true' })
    t.deepEqual(scenario.seen(name), [])
  })

  test(`count tokens: for ${name} a body without messages is refused`, async (t) => {
    for (const body of [{ model }, { model, messages: [] }, { model, messages: 'hi' }]) {
      const reply = await fixture.scenario().send({ path: PATH, body: JSON.stringify(body) })
      t.is(reply.status, 400, reply.text)
      t.is(valueAt(reply.json, 'error.type'), 'invalid_request')
      t.regex(String(valueAt(reply.json, 'error.message')), /^messages: /)
    }
  })
}

for (const name of ['anthropic', 'gemini'] as const) {
  test(`count tokens: ${name} counts itself, and its answer is not called an estimate`, async (t) => {
    const scenario = fixture.scenario()
    const reply = await scenario.send({
      path: PATH,
      body: JSON.stringify({ model: MODELS[name], messages: [{ role: 'user', content: TEXT }] }),
    })
    t.is(reply.status, 200, reply.text)
    t.is(reply.headers['x-svc-estimated'], undefined)
    t.is(scenario.seen(name).length, 1)
  })
}
