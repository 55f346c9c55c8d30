import test from 'ava'
import type { JsonObject } from '../support/json.ts'
import { valueAt } from '../support/json.ts'
import { GPT_4O, openCostFixture, SONNET } from './cost-fixture.ts'

const cost = await openCostFixture()
test.after.always(() => cost.close())

const WORDS = 'A barrier across the road, where travellers pay for what they use. '
/** About 1,500 tokens. */
const LONG = WORDS.repeat(100)
const SILENT = { input_tokens: 0, output_tokens: 0 }
const SILENT_CHAT = { prompt_tokens: 0, completion_tokens: 0 }
const input = { path: 'a.txt', text: LONG }

const ANSWERS: Readonly<Record<string, JsonObject>> = {
  'a text': { text: LONG },
  'an input of a tool': { content: [{ type: 'tool_use', id: 'toolu_1', name: 'write', input }] },
}

for (const [what, answer] of Object.entries(ANSWERS))
  for (const stream of [false, true])
    test(`reported usage: zeros beside ${what} are not believed, ${stream ? 'SSE' : 'JSON'}`, async (t) => {
      const scenario = cost.fixture.scenario({ anthropic: { kind: 'answer', ...answer, usage: SILENT } })
      const reply = await cost.ask(scenario, { as: t.title, stream, extra: { max_tokens: 8000 } })
      t.is(reply.status, 200)
      const { settledNanoUsd } = await cost.settled(t.title)
      t.true(settledNanoUsd > 800 * SONNET.output, `${settledNanoUsd}`)
      t.true(settledNanoUsd < 3000 * SONNET.output, `${settledNanoUsd}`)
    })

for (const stream of [false, true])
  test(`reported usage: zeros of a chat provider are not believed, ${stream ? 'SSE' : 'JSON'}`, async (t) => {
    const scenario = cost.fixture.scenario({ openai: { kind: 'answer', text: LONG, usage: SILENT_CHAT } })
    const reply = await cost.ask(scenario, { as: t.title, dialect: 'chat', stream, extra: { max_tokens: 8000 } })
    t.is(reply.status, 200)
    const { settledNanoUsd } = await cost.settled(t.title)
    t.true(settledNanoUsd > 800 * GPT_4O.output, `${settledNanoUsd}`)
  })

test('reported usage: of two usage members the last counts, as in JSON.parse', async (t) => {
  const [first, last] = [SILENT, { input_tokens: 100, output_tokens: 50 }].map((usage) => JSON.stringify(usage))
  const content = JSON.stringify([{ type: 'text', text: 'Yes.' }])
  const body = `{"id":"msg_1","type":"message","role":"assistant","model":"m","usage":${first},"content":${content},"stop_reason":"end_turn","stop_sequence":null,"usage":${last}}`
  const scenario = cost.fixture.scenario({ anthropic: { kind: 'reply', body } })
  t.is((await cost.ask(scenario, { as: t.title })).status, 200)
  t.is((await cost.settled(t.title)).settledNanoUsd, 100 * SONNET.input + 50 * SONNET.output)
})

const IMAGE = `![](data:image/png;base64,${Buffer.from(LONG.repeat(20)).toString('base64')})`
const HONEST: Readonly<Record<string, { text: string; tokens: number }>> = {
  'an image in base64': { text: IMAGE, tokens: 1290 },
  'a long run of one sign': { text: '='.repeat(20_000), tokens: 160 },
  'white space': { text: ' \n'.repeat(1000), tokens: 20 },
  'drawn boxes': { text: '─'.repeat(9000), tokens: 300 },
  'long words': { text: 'pneumonoultramicroscopicsilicovolcanoconiosis '.repeat(50), tokens: 600 },
}

for (const [what, { text, tokens }] of Object.entries(HONEST))
  for (const stream of [false, true])
    test(`reported usage: an honest count of ${what} is believed to the token, ${stream ? 'SSE' : 'JSON'}`, async (t) => {
      const usage = { input_tokens: 10, output_tokens: tokens }
      const scenario = cost.fixture.scenario({ anthropic: { kind: 'answer', text, usage } })
      const reply = await cost.ask(scenario, {
        as: t.title,
        stream,
        guard: 'per_day=100',
        extra: { max_tokens: 30_000 },
      })
      t.is(reply.status, 200)
      t.is(valueAt(reply.json, 'usage.output_tokens') ?? tokens, tokens)
      t.is((await cost.settled(t.title)).settledNanoUsd, 10 * SONNET.input + tokens * SONNET.output)
    })
