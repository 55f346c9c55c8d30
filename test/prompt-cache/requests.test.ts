import test from 'ava'
import type { DialectName } from '../../src/core/reply/reply-dialect.ts'
import { openFixture } from '../support/fixture.ts'
import type { JsonObject } from '../support/json.ts'
import { type BilledCache, createBilledCache } from '../support/provider/billed-cache.ts'
import { bodyOf, PATHS, textOf } from './conversation-bodies.ts'

const DIALECTS = ['messages', 'chat', 'responses'] as const
const MARK = ',"cache_control":{"type":"ephemeral"}'

const fixture = await openFixture({ env: { SVC_PIPELINE: 'prompt-cache' } })
test.after.always(() => fixture.close())

let callers = 0

/** A caller of its own, in front of a cache of its own. */
function open(pipe = 'prompt-cache') {
  const cache = createBilledCache()
  const scenario = fixture.scenario(cache.script)
  const authorization = `Bearer caller-${callers++}`
  const ask = (body: JsonObject | string, dialect: DialectName = 'messages') =>
    scenario.send({ path: PATHS[dialect], headers: { authorization, 'x-svc-pipe': pipe }, body })
  return { cache, scenario, ask }
}

/** Tokens as they are billed: reads at a tenth, writes at one and a quarter. */
function costOf({ bills }: BilledCache): number {
  return bills.reduce(
    (sum, { input_tokens: fresh, cache_read_input_tokens: read, cache_creation_input_tokens: written }) =>
      sum + 20 * fresh + 2 * read + 25 * written,
    0,
  )
}

function unmarkedCostOf({ bills }: BilledCache): number {
  return 20 * bills.reduce((sum, bill) => sum + Object.values(bill).reduce((a, b) => a + b), 0)
}

for (const dialect of DIALECTS)
  test(`prompt-cache: a conversation reads what its turns have written (${dialect})`, async (t) => {
    const { cache, ask } = open()
    for (let turn = 1; turn <= 8; turn++) t.is((await ask(bodyOf(dialect, t.title, turn), dialect)).status, 200)
    for (const [index, bill] of cache.bills.entries()) {
      const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = cache.bills[index - 1] ?? bill
      if (index > 1) t.is(bill.cache_read_input_tokens, read + written)
    }
    t.true(costOf(cache) < 0.6 * unmarkedCostOf(cache), `${costOf(cache)} of ${unmarkedCostOf(cache)}`)
  })

test('prompt-cache: nothing but marks is added to the client’s bytes', async (t) => {
  const { scenario, ask } = open()
  const odd = '{"n":1.0,"big":9007199254740993,"10":"a","2":"b"}'
  const texts = [0, 1, 2].map((index) => JSON.stringify(textOf(`${t.title} ${index}`, 700)))
  const turns = [
    ` {"role":"user", "content":[ {"type":"text","text":${texts[0]}} ] }`,
    `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Read","input":${odd}}]}`,
    `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":${texts[1]} }]}`,
    `{"role":"assistant","content":[{"type":"text","text":${texts[2]}}]}`,
    `{"content":[{"type":"text","text":"And  then?"}],"role":"user"}`,
  ]
  const bodies = [1, 3, 5].map(
    (count) => `{"model":"claude-sonnet-4-5","max_tokens":64, "messages":[${turns.slice(0, count).join(' ,\n')}]}`,
  )
  for (const body of bodies) await ask(body)
  const seen = scenario.seen().map(({ raw }) => String(raw))
  t.deepEqual(
    seen.map((raw) => raw.split(MARK).length - 1),
    [0, 1, 2],
  )
  t.deepEqual(
    seen.map((raw) => raw.replaceAll(MARK, '')),
    bodies,
  )
})

test('prompt-cache: a text that is marked becomes a block with the same bytes', async (t) => {
  const { scenario, ask } = open()
  for (const turn of [1, 2]) await ask(bodyOf('messages', t.title, turn))
  const [, second] = scenario.seen().map(({ raw }) => String(raw))
  const block = /\[\{"type":"text","text":("(?:[^"\\]|\\.)*"),"cache_control":\{"type":"ephemeral"\}\}\]/g
  t.is(second?.replaceAll(block, '$1'), JSON.stringify(bodyOf('messages', t.title, 2)))
})

const OWN_MARKS: readonly (readonly [string, (body: JsonObject) => JsonObject])[] = [
  [
    'of a block',
    (body) => ({ ...body, system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] }),
  ],
  ['of the request', (body) => ({ ...body, cache_control: { type: 'ephemeral' } })],
  ['that is null', (body) => ({ ...body, cache_control: null })],
]
for (const [what, withOwn] of OWN_MARKS)
  test(`prompt-cache: a request with a mark ${what} passes byte for byte`, async (t) => {
    const { scenario, ask } = open()
    for (const turn of [1, 2, 3]) {
      const body = JSON.stringify(withOwn(bodyOf('messages', t.title, turn)))
      const reply = await ask(body)
      t.is(String(scenario.seen().at(-1)?.raw), body)
      t.is(reply.headers['x-svc-idle'], 'prompt-cache="the client sets marks"')
    }
  })

test('prompt-cache: one-shots that never repeat themselves are never marked', async (t) => {
  const { cache, scenario, ask } = open()
  const bodies = Array.from({ length: 30 }, (_, index) => JSON.stringify(bodyOf('messages', `${t.title} ${index}`, 1)))
  for (const body of bodies) await ask(body)
  t.deepEqual(
    scenario.seen().map(({ raw }) => String(raw)),
    bodies,
  )
  t.is(costOf(cache), unmarkedCostOf(cache))
})

test('prompt-cache: one-shots with the same system are marked once they repeat it', async (t) => {
  const { cache, ask } = open()
  for (let index = 0; index < 12; index++) {
    const messages = [{ role: 'user', content: textOf(`question ${index}`, 40) }]
    await ask({ ...bodyOf('messages', t.title, 1), messages })
  }
  const [first, second, ...others] = cache.bills
  t.is(first?.cache_creation_input_tokens, 0)
  t.true((second?.cache_creation_input_tokens ?? 0) > 1024)
  for (const bill of others) {
    t.is(bill.cache_creation_input_tokens, 0)
    t.is(bill.cache_read_input_tokens, second?.cache_creation_input_tokens ?? 0)
  }
})

test('prompt-cache: a prefix under the model’s least length is not marked', async (t) => {
  const { cache, ask } = open()
  for (const turn of [1, 2, 3]) {
    const body = { ...bodyOf('messages', t.title, turn), model: 'claude-haiku-4-5' }
    const reply = await ask(body)
    t.regex(String(reply.headers['x-svc-idle']), /tokens: the model caches from 4096/)
  }
  t.deepEqual(cache.marks, [0, 0, 0])
})

test('prompt-cache: tools that are deferred are not marked, and what follows them is', async (t) => {
  const { cache, scenario, ask } = open()
  const tools = [
    { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
    { name: 'far', description: textOf('far', 1400), input_schema: { type: 'object' }, defer_loading: true },
  ]
  for (const turn of [1, 2, 3]) t.is((await ask({ ...bodyOf('messages', t.title, turn), tools })).status, 200)
  t.is(cache.marks.length, 3)
  t.true((cache.marks.at(-1) ?? 0) > 0)
  for (const { json } of scenario.seen()) t.notRegex(JSON.stringify(json?.tools), /cache_control/)
})

const BLANK_SYSTEMS = {
  'of one blank text': '\n\n',
  'of one blank block': [{ type: 'text', text: ' \n' }],
  'that ends with an empty block': [
    { type: 'text', text: textOf('rules', 1500) },
    { type: 'text', text: '' },
  ],
}
for (const [what, system] of Object.entries(BLANK_SYSTEMS))
  test(`prompt-cache: a system ${what} is not marked, and what follows it is`, async (t) => {
    const { cache, ask } = open()
    const tools = [{ name: 'near', description: textOf('near', 1200), input_schema: { type: 'object' } }]
    for (const turn of [1, 2, 3, 4])
      t.is((await ask({ ...bodyOf('messages', t.title, turn), tools, system })).status, 200)
    t.true((cache.marks.at(-1) ?? 0) > 0)
  })

test('prompt-cache: no request has more than four marks', async (t) => {
  const { cache, ask } = open()
  const tools = [{ name: 'near', description: textOf('near', 1200), input_schema: { type: 'object' } }]
  for (let turn = 1; turn <= 6; turn++) await ask({ ...bodyOf('messages', t.title, turn), tools })
  t.true(Math.max(...cache.marks) <= 4)
  t.true(Math.max(...cache.marks) >= 3)
})

test('prompt-cache: a turn of more blocks than the provider looks back is read all the same', async (t) => {
  const { cache, ask } = open()
  const first = { role: 'user', content: textOf(t.title, 1400) }
  const uses = Array.from({ length: 30 }, (_, index) => ({
    type: 'tool_use',
    id: `toolu_${index}`,
    name: 'run',
    input: {},
  }))
  const results = uses.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: textOf(id, 50) }))
  const calls = [first, { role: 'assistant', content: uses }, { role: 'user', content: results }]
  const more = [
    { role: 'assistant', content: 'Done.' },
    { role: 'user', content: 'Go on.' },
  ]
  const turns = [[first], [first], calls, [...calls, ...more]]
  for (const messages of turns) await ask({ model: 'claude-sonnet-4-5', max_tokens: 20, messages })
  const [, second, third, fourth] = cache.bills
  t.true((second?.cache_creation_input_tokens ?? 0) > 1024)
  t.is(third?.cache_read_input_tokens, second?.cache_creation_input_tokens)
  t.is(
    fourth?.cache_read_input_tokens,
    (third?.cache_read_input_tokens ?? 0) + (third?.cache_creation_input_tokens ?? 0),
  )
})
