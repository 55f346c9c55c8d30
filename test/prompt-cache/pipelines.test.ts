import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { openFixture, type Scenario } from '../support/fixture.ts'
import { type Reply, send } from '../support/http-client.ts'
import { isJsonObject, type JsonObject, valueAt } from '../support/json.ts'
import { createBilledCache } from '../support/provider/billed-cache.ts'
import { bodyOf, textOf } from './conversation-bodies.ts'

const fixture = await openFixture({ config: { models: { either: ['anthropic/claude-sonnet-4-5', 'openai/gpt-4o'] } } })
test.after.always(() => fixture.close())

let callers = 0

/** A caller of its own, in front of a cache of its own. */
function open(pipe: string) {
  const cache = createBilledCache()
  const scenario = fixture.scenario(cache.script)
  return { cache, scenario, ask: askerOf(scenario, pipe) }
}

function askerOf(scenario: Scenario, pipe: string) {
  const authorization = `Bearer caller-${callers++}`
  return (body: JsonObject) => scenario.send({ headers: { authorization, 'x-svc-pipe': pipe }, body })
}

interface Step {
  readonly module: string
  readonly action: string
  readonly details?: JsonObject
}

/** Returns a step of the row of a request, when it is written. */
async function stepOf({ headers }: Reply, name: string): Promise<Step | undefined> {
  const path = `/dashboard/api/requests/${String(headers['x-svc-receipt'])}`
  const find = () => send(fixture.gateway.url, { method: 'GET', path })
  await eventually(async () => (await find()).status === 200, 'a row')
  // Safe: the gateway's own shape.
  return (valueAt((await find()).json, 'request.trace.steps') as Step[]).find(({ module }) => module === name)
}

/** A call of an agent that reads files; every second result repeats the one before. */
function agentBody(turn: number): JsonObject {
  const tools = Array.from({ length: 40 }, (_, index) => ({
    name: `server__tool_${index}`,
    description: textOf(`Does thing ${index}`, 250),
    input_schema: { type: 'object', properties: { file_path: { type: 'string', description: 'The path.' } } },
  }))
  const messages: JsonObject[] = [{ role: 'user', content: 'Read the files of the toll road.' }]
  for (let call = 1; call < turn; call++) {
    const id = `toolu_${call}`
    const listing = Array.from({ length: 80 }, (_, line) => `${line}→  toll(${call >> 1}, ${line * 7})   `).join('\n')
    messages.push(
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'Read', input: { file_path: `${call >> 1}.ts` } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: listing }] },
    )
  }
  return { model: 'claude-sonnet-4-5', max_tokens: 20, tools, messages }
}

test('prompt-cache: behind compress and prune-tools, each turn reads all that the one before has sent', async (t) => {
  const { cache, scenario, ask } = open('prune-tools,compress,prompt-cache')
  for (let turn = 1; turn <= 8; turn++) t.is((await ask(agentBody(turn))).status, 200)
  const sizes = scenario.seen().map(({ raw }) => raw.length)
  t.true((sizes.at(-1) ?? 0) < JSON.stringify(agentBody(8)).length)
  for (const [index, { cache_read_input_tokens: read }] of cache.bills.entries()) {
    const before = cache.bills[index - 1]
    if (index > 1) t.is(read, (before?.cache_read_input_tokens ?? 0) + (before?.cache_creation_input_tokens ?? 0))
  }
})

test('prompt-cache: the row of a request has what was expected of its marks, and what was billed', async (t) => {
  for (const stream of [false, true]) {
    const { cache, ask } = open('prompt-cache')
    const name = `${t.title} ${stream}`
    for (const turn of [1, 2]) await ask({ ...bodyOf('messages', name, turn), stream })
    const reply = await ask({ ...bodyOf('messages', name, 3), stream })
    const step = await stepOf(reply, 'prompt-cache')
    const bill = cache.bills.at(-1)
    t.is(step?.action, 'marked')
    t.is(step?.details?.readTokens, bill?.cache_read_input_tokens)
    t.is(step?.details?.writtenTokens, bill?.cache_creation_input_tokens)
    t.is(step?.details?.marks, 'system 5m, messages.2 5m, messages.4 5m')
    const { expectedReadTokens, expectedWriteTokens } = step?.details ?? {}
    t.true(Math.abs(Number(expectedReadTokens) / (bill?.cache_read_input_tokens ?? 0) - 1) < 0.2)
    t.true(Math.abs(Number(expectedWriteTokens) / (bill?.cache_creation_input_tokens ?? 0) - 1) < 0.2)
  }
})

test('prompt-cache: the hold of cost-guard covers the price of the writes', async (t) => {
  const { cache, ask } = open('prompt-cache,cost-guard?per_day=5')
  const heldUsd = async (turn: number) => {
    const reply = await ask(bodyOf('messages', t.title, turn))
    return Number((await stepOf(reply, 'cost-guard'))?.details?.heldUsd)
  }
  const [unmarked, marked] = [await heldUsd(1), await heldUsd(2)]
  const plain = await askerOf(fixture.scenario(), 'cost-guard?per_day=5')(bodyOf('messages', t.title, 2))
  const withoutMarks = Number((await stepOf(plain, 'cost-guard'))?.details?.heldUsd)
  t.deepEqual(cache.marks, [0, 2])
  t.true(unmarked < withoutMarks)
  // Output is a twentieth of the hold.
  t.true(marked > 1.2 * withoutMarks, `${marked} with marks, ${withoutMarks} without`)
})

test('prompt-cache: behind cost-guard, which has made its hold, no mark is set', async (t) => {
  const { cache, ask } = open('cost-guard?per_day=5,prompt-cache')
  const replies = [await ask(bodyOf('messages', t.title, 1)), await ask(bodyOf('messages', t.title, 2))]
  t.deepEqual(cache.marks, [0, 0])
  t.regex(String(replies.at(-1)?.headers['x-svc-idle']), /prompt-cache="behind cost-guard/)
})

test('prompt-cache: with a target that takes no marks none is set', async (t) => {
  const { cache, ask } = open('prompt-cache')
  const reply = await ask({ ...bodyOf('messages', t.title, 3), model: 'either' })
  t.is(reply.headers['x-svc-idle'], 'prompt-cache="a target takes no marks"')
  t.deepEqual(cache.marks, [0])
})

test('prompt-cache: what a failed request should have written is written by the next', async (t) => {
  const cache = createBilledCache()
  const scenario = fixture.scenario((request, nth) =>
    nth === 2 ? { kind: 'error', status: 400, message: 'Not now.' } : cache.script(request),
  )
  const ask = askerOf(scenario, 'prompt-cache')
  const statuses: number[] = []
  for (const turn of [1, 2, 2, 3]) statuses.push((await ask(bodyOf('messages', t.title, turn))).status)
  t.deepEqual(statuses, [200, 400, 200, 200])
  const [, second, third] = cache.bills
  t.is(second?.cache_read_input_tokens, 0)
  t.is(third?.cache_read_input_tokens, second?.cache_creation_input_tokens)
})

test('prompt-cache: a provider that refuses marks gets no more', async (t) => {
  const isMarked = (json: unknown) => JSON.stringify(json).includes('cache_control')
  const scenario = fixture.scenario(({ json }) =>
    isMarked(json)
      ? { kind: 'error', status: 400, message: 'cache_control: Extra inputs are not permitted' }
      : { kind: 'answer', text: 'Fine.' },
  )
  const ask = askerOf(scenario, 'prompt-cache')
  const replies = []
  for (const turn of [1, 2, 2, 3]) replies.push(await ask(bodyOf('messages', t.title, turn)))
  t.deepEqual(
    replies.map(({ status }) => status),
    [200, 400, 200, 200],
  )
  t.regex(String(replies.at(-1)?.headers['x-svc-idle']), /prompt-cache="the provider has refused marks/)
  t.regex(fixture.gateway.log(), /prompt-cache\.refused/)
})

test('prompt-cache: callers learn nothing from each other', async (t) => {
  const cache = createBilledCache()
  const scenario = fixture.scenario(cache.script)
  const body = (index: number) => ({
    ...bodyOf('messages', t.title, 1),
    messages: [{ role: 'user', content: `Question ${index}` }],
  })
  for (let index = 0; index < 6; index++) await askerOf(scenario, 'prompt-cache')(body(index))
  t.deepEqual(cache.marks, [0, 0, 0, 0, 0, 0])
  t.true(isJsonObject(scenario.seen()[0]?.json))
})
