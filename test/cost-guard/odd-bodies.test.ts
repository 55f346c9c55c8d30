import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { openCostFixture } from './cost-fixture.ts'

/** A server of one's own that takes whatever it is sent. */
const lenient = createServer((request, response) => {
  request.resume()
  const message = { role: 'assistant', content: 'fine' }
  const usage = { prompt_tokens: 3000, completion_tokens: 2, total_tokens: 3002 }
  const completion = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(completion))
})
await new Promise<void>((resolve) => lenient.listen(0, '127.0.0.1', resolve))
const { port } = lenient.address() as AddressInfo // safe: it listens on TCP
const own = { lenient: { base_url: `http://127.0.0.1:${port}/v1`, api_key: 'k' } }
const cost = await openCostFixture({ config: { providers: { 'openai-compatible': own } } })
test.after.always(async () => {
  await cost.close()
  lenient.close()
})

test('costs: a chat body that the canonical shape has no place for is not read after its reply', async (t) => {
  const messages = [{ role: 'narrator', content: 'hi' }]
  const extra = { model: 'lenient/m', messages }
  const reply = await cost.ask(cost.fixture.scenario(), { as: t.title, pipe: 'none', dialect: 'chat', extra })
  t.is(reply.status, 200, reply.text)
  t.is((await send(cost.fixture.gateway.url, { method: 'GET', path: '/health' })).status, 200)
  t.notRegex(cost.fixture.gateway.log(), /uncaught|unhandled|fatal/i)
})

test('costs: deferred tools are all held for where a provider of another API is sent them', async (t) => {
  const description = 'The keeper of the road counts each carriage. '.repeat(100)
  const estimated = async (model: string, deferred: object) => {
    const tools = Array.from({ length: 30 }, (_, n) => ({ name: `t${n}`, description, input_schema: {}, ...deferred }))
    // Alone in its pipeline: pruning would drop most of what is deferred here.
    const asking = { as: t.title, pipe: 'cost-guard?per_request=0.00000001', extra: { model, tools } }
    const { json } = await cost.ask(cost.fixture.scenario(), asking)
    return Number(valueAt(json, 'error.estimated'))
  }
  const model = 'claude-sonnet-4-5'
  const all = await estimated(`lenient/${model}`, {})
  t.true((await estimated(`lenient/${model}`, { defer_loading: true })) > 0.98 * all)
  t.true((await estimated(model, { defer_loading: true })) < (await estimated(model, {})) / 3)
})

test('costs: earlier thinking is held for where a provider of another API is sent it', async (t) => {
  const estimated = async (model: string, thinking: string) => {
    const blocks = [
      { type: 'thinking', thinking, signature: 's' },
      { type: 'text', text: 'b' },
    ]
    const [user, assistant] = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: blocks },
    ]
    // Alone in its pipeline: the longer one would be marked for the provider's cache, and a mark has a price.
    const pipe = 'cost-guard?per_request=0.00000001'
    const asking = { as: t.title, pipe, extra: { model, messages: [user, assistant, user] } }
    const { json } = await cost.ask(cost.fixture.scenario(), asking)
    return Number(valueAt(json, 'error.estimated'))
  }
  const model = 'claude-sonnet-4-5'
  const long = 'The keeper of the road counts each carriage. '.repeat(100)
  t.true((await estimated(`lenient/${model}`, long)) > 3 * (await estimated(`lenient/${model}`, 'x')))
  t.is(await estimated(model, long), await estimated(model, 'x'))
})
