import test from 'ava'
import { chat } from '../support/chat-bodies.ts'
import { sendChat } from '../support/door.ts'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { MODELS, openProviderFixture } from '../support/provider-fixture.ts'

const fixture = await openProviderFixture({ config: { providers: { tries: 1 } } })
test.after.always(() => fixture.close())

const TOKEN = 'capability_rejected: prompt_too_long'
/** Words of each provider for an input beyond the window. */
const WORDS = {
  openai:
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens. Please reduce the length of the messages.",
  gemini: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  house: 'the request exceeds the available context size, try increasing it',
  responder: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
} as const

for (const name of ['openai', 'gemini', 'house', 'responder'] as const)
  for (const stream of [false, true])
    test(`window errors: of ${name} has the token after which Claude Code compacts (stream: ${stream})`, async (t) => {
      const scenario = fixture.scenario({ [name]: { kind: 'error', status: 400, message: WORDS[name] } })
      const reply = await scenario.send({ body: ask('hi', { model: MODELS[name], stream }) })
      t.is(reply.status, 400)
      const message = String(valueAt(reply.json, 'error.message'))
      t.is(message, `${WORDS[name]} (${TOKEN})`)
      t.is(valueAt(reply.json, 'error.type'), 'invalid_request_error')
    })

test('window errors: a limit of tokens a minute has no token', async (t) => {
  const message = 'Request too large: too many input tokens a minute.'
  const scenario = fixture.scenario({ openai: { kind: 'error', status: 429, message } })
  const reply = await scenario.send({ body: ask('hi', { model: MODELS.openai }) })
  t.is(valueAt(reply.json, 'error.message'), message)
})

test('window errors: Anthropic’s own words reach the client as they are', async (t) => {
  const message = 'prompt is too long: 210000 tokens > 200000 maximum'
  const scenario = fixture.scenario({ anthropic: { kind: 'error', status: 400, message } })
  const reply = await scenario.send({ body: ask('hi', { model: MODELS.anthropic }) })
  t.is(valueAt(reply.json, 'error.message'), message)
})

test('window errors: clients of other dialects get the words without the token, and Responses the code', async (t) => {
  const scripts = { gemini: { kind: 'error', status: 400, message: WORDS.gemini } } as const
  const completion = await sendChat(fixture.scenario(scripts), chat('hi', { model: MODELS.gemini }))
  t.is(valueAt(completion.json, 'error.message'), WORDS.gemini)
  const body = { model: MODELS.gemini, input: t.title }
  const response = await fixture.scenario(scripts).send({ path: '/v1/responses', body })
  t.like(response.json, { error: { message: WORDS.gemini, code: 'context_length_exceeded' } })
})
