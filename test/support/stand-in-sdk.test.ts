import Anthropic from '@anthropic-ai/sdk'
import test from 'ava'
import { startProvider } from './stand-in-provider.ts'

const call = { model: 'claude-opus-4-8', max_tokens: 50, messages: [{ role: 'user' as const, content: 'hello there' }] }

test("stand-in: the provider's SDK reads its JSON, its stream and its model list", async (t) => {
  await using provider = await startProvider({ apiKey: 'sk-test', acceptBearer: true, strictVersion: true })
  const client = new Anthropic({ apiKey: 'sk-test', baseURL: provider.url })
  const whole = await client.messages.create(call)
  const streamed = await client.messages.stream(call).finalMessage()
  t.deepEqual(streamed.content, whole.content)
  t.is(streamed.usage.output_tokens, whole.usage.output_tokens)
  t.like(await client.messages.countTokens({ model: call.model, messages: call.messages }), {
    input_tokens: whole.usage.input_tokens,
  })
  const models = []
  for await (const model of client.models.list({ limit: 2 })) models.push(model.id)
  t.is(models.length, 3)
})

test("stand-in: the provider's SDK recognises its refusals", async (t) => {
  await using provider = await startProvider({ apiKey: 'sk-other', acceptBearer: true })
  const client = new Anthropic({ apiKey: 'sk-test', baseURL: provider.url, maxRetries: 0 })
  const error = await t.throwsAsync(client.messages.create(call), { instanceOf: Anthropic.AuthenticationError })
  t.regex(String(error?.requestID), /^req_/)
})
