import test from 'ava'
import fc from 'fast-check'
import { loadRecordings } from '../../../test/support/recordings.ts'
import { readUsage } from '../../core/reply/usage.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { TokenEstimator } from './token-estimator.ts'

const GPT = 'gpt-4o'
const CLAUDE = 'claude-sonnet-4-5'
const PROSE = 'The gateway forwards what the client wrote, and counts what the provider will count. '

const document = (body: unknown) =>
  new RequestDocument(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
const ask = (content: unknown, more: object = {}) =>
  document({ model: GPT, messages: [{ role: 'user', content }], ...more })
const count = (request: RequestDocument, model = GPT) => new TokenEstimator().inputTokens(request, model)
const textTokens = (text: string) => new TokenEstimator().textTokens(text, GPT)

/** Token counts by o200k of texts of each kind, and the tolerance of an estimate in per cent. */
const SAMPLES: readonly (readonly [kind: string, text: string, tokens: number, percent: number])[] = [
  [
    'prose',
    'A toll road is only worth its price if it is faster than the road beside it. The keeper therefore counts every carriage, notes the hour, and writes down what each of them paid; at the end of the month the books are compared with the coins in the chest. When the two disagree, somebody has made a mistake, and it is usually the person who was in a hurry on market day.',
    81,
    10,
  ],
  [
    'code',
    "export async function readLines(file: string): Promise<string[]> {\n  const handle = await open(file, 'r')\n  try {\n    const lines: string[] = []\n    for await (const line of handle.readLines()) {\n      if (line.trim() === '' || line.startsWith('#')) continue\n      lines.push(line)\n    }\n    return lines\n  } finally {\n    await handle.close()\n  }\n}\n",
    86,
    10,
  ],
  [
    'the log of a test run',
    '\u001b[32m  ✓\u001b[0m\u001b[90m should set the header (3ms)\u001b[0m\n\u001b[32m  ✓\u001b[0m\u001b[90m should send a stream (12ms)\u001b[0m\n\u001b[31m  1) should time out\u001b[0m\n\n  2 passing (1.2s)\n  1 failing\n\n  AssertionError [ERR_ASSERTION]: expected 408, got 200\n      at Context.<anonymous> (test/timeout.js:41:14)\n      at process.processImmediate (node:internal/timers:478:21)\n',
    133,
    12,
  ],
  [
    'JSON',
    '{"reservation_id":"ZFA04Y","user_id":"mei_lee_8040","origin":"JFK","flights":[{"number":"HAT045","date":"2024-05-22","price":182,"cabin":"basic_economy"},{"number":"HAT112","date":"2024-05-23","price":109,"cabin":"basic_economy"}],"passengers":[{"first_name":"Mei","last_name":"Lee","dob":"1989-12-13"}],"insurance":"no","created_at":"2024-05-05T04:35:21"}',
    128,
    12,
  ],
  [
    'the definition of a tool',
    '{"name":"search_files","description":"Search recursively for files and directories that match a pattern. Returns full paths to all matching items.","input_schema":{"type":"object","properties":{"path":{"type":"string","description":"Where to begin the search."},"pattern":{"type":"string","description":"What to look for."},"limit":{"type":"integer","minimum":1}},"required":["path","pattern"]}}',
    83,
    12,
  ],
  [
    'identifiers',
    '3f2b8c1e-7a44-4d0e-9b1f-52c6e0d9a713 7d793037a0760186574b0282f2f435e7b1a3c5 9b74c9897bac770ffc029102a200c5de 2026-03-14T09:26:53.589Z toolu_01YGzqpRE16Vricda3Aqcejo req_011CSHoEeqs5C35K2UUqR7Fy',
    125,
    12,
  ],
  [
    'German',
    'Heute ist das Wetter sehr schön, und wir haben beschlossen, im Park spazieren zu gehen. Die Verbindung zur Datenbank ist fehlgeschlagen; überprüfen Sie die Einstellungen des Netzes und versuchen Sie es später noch einmal.',
    44,
    20,
  ],
  [
    'Chinese',
    '今天的天气非常好，我们决定去公园散步。请帮我检查一下这段代码有没有错误，并解释每一步的含义。数据库连接失败，请检查网络设置后重试。',
    42,
    20,
  ],
  [
    'Russian',
    'Сегодня очень хорошая погода, и мы решили прогуляться по парку. Не удалось подключиться к базе данных, проверьте настройки сети и повторите попытку.',
    36,
    25,
  ],
]

for (const [kind, text, tokens, percent] of SAMPLES) {
  test(`token estimate: within ${percent} % of o200k for ${kind}`, (t) => {
    const off = (textTokens(text) / tokens - 1) * 100
    t.true(Math.abs(off) <= percent, `${off.toFixed(1)} % off`)
  })
}

/** Images by address and MCP servers: only the provider knows their contents. */
const UNSEEN = /^a(09|31)/
const FACTOR = 1.45

const recorded = recordedCounts()

test(`token estimate: within a factor of ${FACTOR} of a provider’s count for recorded requests`, (t) => {
  if (recorded === undefined) return t.pass()
  for (const { name, request, counted } of recorded) {
    const ratio = count(request, request.model) / counted
    t.true(ratio < FACTOR && ratio > 1 / FACTOR, `${name}: ${ratio.toFixed(2)} of ${counted}`)
  }
  t.true(recorded.length >= 25, `${recorded.length} recordings`)
})

test('token bound: recorded requests of text stay below it', (t) => {
  if (recorded === undefined) return t.pass()
  const bounded = recorded.flatMap(({ name, request, counted }) => {
    const most = new TokenEstimator().mostInputTokens(request)
    return most === undefined ? [] : { name, most, counted }
  })
  for (const { name, most, counted } of bounded) t.true(counted <= most, `${name}: ${counted} of ${most}`)
  t.true(bounded.length >= 10, `${bounded.length} recordings`)
})

/** Returns recorded requests with the provider's counts of their input tokens; `undefined` without recordings. */
function recordedCounts(): { name: string; request: RequestDocument; counted: number }[] | undefined {
  const { items, absent } = loadRecordings()
  if (absent !== undefined) return undefined
  return items.flatMap(({ name, request, response }) => {
    if (!/^a\d/.test(name) || UNSEEN.test(name) || response.status !== 200) return []
    const counted = countedIn(response.bytes.toString())
    return counted === undefined ? [] : { name, request: document(request.body.toString()), counted }
  })
}

/** Returns the input tokens of a reply, cached ones included: a message, a count, or the first event of a stream. */
function countedIn(reply: string): number | undefined {
  const json = reply.startsWith('{')
    ? reply
    : /^data: (\{"type":"message_start".*|\{.*"type":"message_start".*)$/m.exec(reply)?.[1]
  if (json === undefined) return undefined
  const body = JSON.parse(json)
  const usage = readUsage(body.message?.usage ?? body.usage ?? body)
  return usage && usage.inputTokens + usage.cacheReadInputTokens + usage.cacheCreationInputTokens
}

const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ maxLength: 200 }), fc.lorem())

test('token estimate: more text never counts less, and never nothing', (t) => {
  fc.assert(
    fc.property(text, text, (first, second) => {
      const [short, long] = [first.toWellFormed(), (first + second).toWellFormed()]
      const estimator = new TokenEstimator()
      t.true(estimator.textTokens(long, CLAUDE) >= estimator.textTokens(short, CLAUDE))
      t.true(estimator.textTokens(short, GPT) <= Buffer.byteLength(short) * 2)
      const [few, many] = [count(ask(short), CLAUDE), count(ask(long), CLAUDE)]
      t.true(Number.isSafeInteger(few) && few >= 1 && many >= few)
    }),
    { numRuns: 300 },
  )
})

test('token estimate: any JSON, and any other text, gives a whole number of 1 or more', (t) => {
  const anything = fc.oneof(fc.json(), fc.string())
  const block = fc.record({
    type: fc.constantFrom('text', 'image', 'document', 'tool_result', 'x'),
    content: fc.jsonValue(),
    source: fc.jsonValue(),
  })
  const shaped = fc.record({
    messages: fc.array(fc.record({ role: fc.string(), content: fc.oneof(fc.jsonValue(), fc.array(block)) })),
    tools: fc.jsonValue(),
    thinking: fc.jsonValue(),
    output_config: fc.jsonValue(),
  })
  fc.assert(
    fc.property(
      fc.oneof(
        anything,
        shaped.map((body) => JSON.stringify(body)),
      ),
      (body) => {
        const tokens = count(document(body), CLAUDE)
        t.true(Number.isSafeInteger(tokens) && tokens >= 1, body)
      },
    ),
    { numRuns: 500 },
  )
  for (const body of ['', '{}', '[', '{"tool_choice":{"type":"\\x"}}', '{"messages":[{"\\q":1}]}'])
    t.true(count(document(body)) >= 1, body)
})

test('token estimate: an escape counts as its character', (t) => {
  const plain = 'Grüße\t„an“ alle:\n你好 "42" \u001b[31m 🚀'
  const escaped = JSON.stringify(plain).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const body = (content: string) => document(`{"messages":[{"role":"user","content":${content}}]}`)
  t.is(count(body(escaped)), count(body(JSON.stringify(plain))))
  t.is(count(body(escaped)) - count(body('""')), textTokens(plain))
})

test('token estimate: time is linear, also for blocks within blocks', (t) => {
  const nested = (depth: number): unknown =>
    depth === 0 ? PROSE.repeat(2000) : [{ type: 'tool_result', content: nested(depth - 1) }]
  const startedAtMs = performance.now()
  for (let i = 0; i < 10; i++) count(ask(nested(100)))
  t.true(performance.now() - startedAtMs < 30_000, 'what is not linear takes minutes')
})

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000005000000', 'hex')
const PICTURE = Buffer.concat([PNG, Buffer.from([2, 0xd0]), Buffer.alloc(200_000, 'x')]).toString('base64')
const source = { type: 'base64', media_type: 'image/png', data: PICTURE }
const turned = { data: PICTURE, media_type: 'image/png', type: 'base64' }

for (const [claim, block] of [
  ['an image', { type: 'image', source }],
  ['an image with its members reversed', { source: turned, type: 'image' }],
  ['an image in the result of a tool', { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source }] }],
] as const) {
  test(`token estimate: ${claim} counts by its size, not by its bytes`, (t) => {
    const frame = count(ask([{ ...block, source: undefined, content: [] }]))
    t.is(count(ask([block])) - frame, 1105)
  })
}

test('token estimate: a plain document counts as text, a PDF by its pages', (t) => {
  const text = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: PROSE } }
  t.is(count(ask([text])), count(ask(PROSE)))
  const data = Buffer.from('%PDF << /Type /Page >> << /Type /Page >>').toString('base64')
  const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }
  t.is(count(ask([pdf])) - count(ask([])), 6000)
})

test('token estimate: ids, signatures and cache marks are not in the prompt, and thinking counts while the model keeps it', (t) => {
  const plain = { type: 'text', text: PROSE }
  t.is(
    count(ask([{ ...plain, cache_control: { type: 'ephemeral' }, id: PROSE, citations: [PROSE] }])),
    count(ask([plain])),
  )
  const thought = { type: 'thinking', thinking: PROSE, signature: 'x'.repeat(5000) }
  const turn = (content: unknown, last: unknown, model: string) =>
    count(
      document({
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content },
          { role: 'user', content: last },
        ],
      }),
      model,
    )
  const result = [{ type: 'tool_result', tool_use_id: 'a', content: 'b' }]
  t.is(turn([thought], 'b', CLAUDE), turn([], 'b', CLAUDE))
  for (const [last, model] of [
    [result, CLAUDE],
    ['b', 'claude-opus-4-5'],
    ['b', 'claude-sonnet-4-6'],
    ['b', 'claude-sonnet-5'],
    ['b', GPT],
  ] as const) {
    const thinking = new TokenEstimator().textTokens(PROSE, model)
    const added = turn([thought], last, model) - turn([], last, model)
    t.true(Math.abs(added - thinking) <= 1, `${model}: ${added} of ${thinking}`)
  }
})

test('token estimate: tools count as their JSON; of deferred ones the five largest, where tools are deferred', (t) => {
  const tool = { name: 'look', description: PROSE, input_schema: { type: 'object', properties: {} } }
  const none = count(ask('hi'))
  t.true(count(ask('hi', { tools: [tool] })) >= none + textTokens(PROSE) + 10)
  t.true(count(ask('hi', { tools: [tool] }), CLAUDE) >= none + textTokens(PROSE) + 346)
  const many = (defer_loading: boolean) =>
    ask('hi', { tools: Array.from({ length: 50 }, () => ({ ...tool, defer_loading })) })
  t.true(count(many(true)) >= count(many(false)) - 1)
  t.true(count(many(true), CLAUDE) < count(many(false), CLAUDE) / 5)
  t.true(count(many(true), CLAUDE) >= none + 5 * textTokens(PROSE))
})

const LONG = ask(PROSE.repeat(100))

test('token estimate: learns a provider’s tokenizer within three per cent, from its counts', (t) => {
  const estimator = new TokenEstimator()
  const counted = Math.round(estimator.inputTokens(LONG, CLAUDE) * 1.35)
  for (let i = 0; i < 80; i++) estimator.learn(LONG, CLAUDE, counted)
  t.true(Math.abs(estimator.inputTokens(LONG, CLAUDE) / counted - 1) < 0.03)
  t.is(estimator.inputTokens(LONG, GPT), count(LONG), 'other families are unchanged')
})

test('token estimate: a thousand answers at once do not move the factor beyond their own', (t) => {
  const estimator = new TokenEstimator()
  const counted = Math.round(estimator.inputTokens(LONG, GPT) * 1.2)
  for (let i = 0; i < 1000; i++) estimator.learn(LONG, GPT, counted)
  t.true(Math.abs(estimator.inputTokens(LONG, GPT) - counted) <= 2)
})

test('token estimate: learned factors stay within bounds, and garbage is ignored', (t) => {
  const fresh = new TokenEstimator()
  for (const counted of [0, -1, Number.NaN, 1.5, Number.POSITIVE_INFINITY]) fresh.learn(LONG, GPT, counted)
  t.is(fresh.learned.o200k, 1)
  for (let i = 0; i < 500; i++) fresh.learn(LONG, GPT, 10_000_000)
  t.true(Math.abs((fresh.learned.o200k ?? 0) - 2.2) < 0.001)
})

test('token estimate: an absurd count moves the factor a twentieth of the way to its bound', (t) => {
  const estimator = new TokenEstimator()
  estimator.learn(LONG, GPT, Number.MAX_SAFE_INTEGER)
  t.true(Math.abs((estimator.learned.o200k ?? 0) - (1 + 0.05 * (2.2 - 1))) < 1e-9)
})

for (const [claim, request] of [
  ['a short request', ask(PROSE.repeat(10))],
  [
    'a request with an image',
    ask([
      { type: 'text', text: PROSE.repeat(100) },
      { type: 'image', source },
    ]),
  ],
  [
    'a request with a tool of the provider',
    ask(PROSE.repeat(100), { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
  ],
  ['a request whose context the provider edits', ask(PROSE.repeat(100), { context_management: { edits: [] } })],
] as const) {
  test(`token estimate: ${claim} is not learned from`, (t) => {
    const estimator = new TokenEstimator()
    estimator.learn(request, GPT, 5000)
    t.is(estimator.learned.o200k, 1)
  })
}

test('token bound: the size of a request of text, for any model', (t) => {
  const request = ask('hi '.repeat(2000), { tools: [{ type: 'custom', name: 'look', input_schema: { source: 'b' } }] })
  const bound = new TokenEstimator().mostInputTokens(request) ?? 0
  t.true(bound >= request.bytes.length && bound <= request.bytes.length + 1024)
})

const inContent = (block: object) => ask([{ type: 'text', text: 'hi' }, block])
for (const [claim, request] of [
  ['an image', inContent({ type: 'image', source })],
  ['an image in a result', inContent({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source }] })],
  [
    'an image under an escaped name',
    document('{"messages":[{"role":"user","content":[{"type":"image","s\\u006furce":{}}]}]}'),
  ],
  ['an image of a chat', inContent({ type: 'image_url', image_url: { url: 'https://a.test/b.png' } })],
  ['audio', inContent({ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } })],
  ['a file', inContent({ type: 'file', file: { file_id: 'f' } })],
  ['an upload', inContent({ type: 'container_upload', file_id: 'f' })],
  ['a block of an unknown kind', inContent({ type: 'new', reference: 'r' })],
  ['a tool of the provider', ask('hi', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] })],
  ['servers of tools', ask('hi', { mcp_servers: [{ type: 'url', url: 'https://a.test' }] })],
  ['a prediction', ask('hi', { prediction: { type: 'content', content: 'hi' } })],
  ['an unknown field', ask('hi', { attachments: ['f'] })],
] as const) {
  test(`token bound: none for a request with ${claim}`, (t) => {
    t.is(new TokenEstimator().mostInputTokens(request), undefined)
  })
}

test('token estimate: after the first answers, large requests are weighed for one lesson in sixteen', (t) => {
  const estimator = new TokenEstimator()
  let weighed = 0
  for (let i = 0; i < 64 + 160; i++) {
    const request = ask(`${i} ${PROSE.repeat(100)}`)
    estimator.learn(request, GPT, 3000)
    if (request.shape.memos !== undefined) weighed++
  }
  t.is(weighed, 64 + 10)
})
