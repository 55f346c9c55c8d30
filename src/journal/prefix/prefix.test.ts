import test from 'ava'
import type { LossReason } from '../../core/telemetry/prefix-loss.ts'
import { causeOf } from './loss.ts'
import { TurnMemory } from './memory.ts'
import { predecessorOf } from './predecessor.ts'
import { type Api, readPrefix } from './read-prefix.ts'
import { textAt } from './read-system.ts'
import type { InputTokens, SentTurn } from './turn.ts'

const MINUTE_MS = 60_000
const MARK = { cache_control: { type: 'ephemeral' } }
const LONG_MARK = { cache_control: { type: 'ephemeral', ttl: '1h' } }

const tool = (name: string, more: object = {}) => ({
  name,
  description: `Does what ${name} does.`,
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
  ...more,
})
const user = (text: string, mark: object = {}) => ({ role: 'user', content: [{ type: 'text', text, ...mark }] })
const assistant = (text: string) => ({ role: 'assistant', content: [{ type: 'text', text }] })
const system = (date: string, mark: object = MARK) => [
  { type: 'text', text: 'You are an agent.' },
  { type: 'text', text: `${'Follow the rules of the house. '.repeat(40)}Today is ${date}. Be brief.`, ...mark },
]

const FIRST = {
  model: 'claude-sonnet-4-5',
  tools: [tool('Bash'), tool('Read'), tool('Edit')],
  system: system('2026-11-23'),
  messages: [user('list files', MARK)],
}
const NEXT = { ...FIRST, messages: [user('list files'), assistant('a b'), user('delete a', MARK)] }
/** Twelve messages, of which the last one is marked. */
const LONG = { ...FIRST, messages: turnsOf(12) }

function turnsOf(count: number, mark: object = MARK) {
  return Array.from({ length: count }, (_, i) => {
    const text = `turn ${i} ${'with some text '.repeat(20)}`
    return i % 2 === 0 ? user(text, i >= count - 2 ? mark : {}) : assistant(text)
  })
}

interface Given {
  readonly body: object
  readonly unedited?: object
  readonly edits?: SentTurn['edits']
  readonly tokens?: Partial<InputTokens>
  readonly more?: Partial<SentTurn>
}

function read(body: object, api: Api) {
  const bytes = Buffer.from(JSON.stringify(body))
  const digest = readPrefix(bytes, api)
  if (digest === undefined) throw new Error('expected a prefix')
  return { digest, bytes }
}

/** Makes a turn; its text of the system is that of the body. */
function turn({ body, unedited, edits = [], tokens, more = {} }: Given) {
  const api = more.api ?? 'messages'
  const { digest, bytes } = read(body, api)
  const made: SentTurn = {
    target: { provider: 'anthropic', model: 'claude-sonnet-4-5' },
    api,
    account: 'a',
    betas: [],
    sent: digest,
    unedited: unedited === undefined ? digest : read(unedited, api).digest,
    edits,
    tokens: { fresh: 10, read: 0, written: 0, ...tokens },
    sentAtMs: 0,
    beganAtMs: 1000,
    ...more,
  }
  const textOf = (index: number) => {
    const place = digest.system.blocks[index]?.place
    return place === undefined ? '' : textAt(bytes, place)
  }
  return { made, textOf }
}

const CACHED = { read: 0, written: 20_000 }
const MISSED = { read: 0, written: 20_500 }

/** Returns the cause between two turns: 20,000 tokens were cached after the first, and the second read none of them. */
function cause(first: Given, second: Given) {
  const before = turn({ tokens: CACHED, ...first }).made
  const { made, textOf } = turn({ tokens: MISSED, ...second, more: { sentAtMs: MINUTE_MS, ...second.more } })
  return causeOf(before, made, textOf)
}

const at = (minutes: number) => ({ more: { sentAtMs: minutes * MINUTE_MS } })
const openai = { api: 'chat' as const, target: { provider: 'openai', model: 'gpt-5.1' } }
const chat = (...messages: readonly object[]) => ({ model: 'gpt-5.1', messages })
const CHAT_SYSTEM = { role: 'system', content: 'Rules. '.repeat(200) }

const CASES: readonly (readonly [
  title: string,
  first: Given,
  second: Given,
  reason: LossReason,
  detail: string | RegExp,
])[] = [
  [
    'a date',
    { body: FIRST },
    { body: { ...NEXT, system: system('2026-11-24') } },
    'system',
    'system[1] changed at character 1249: a date',
  ],
  [
    'a date in words',
    { body: { ...FIRST, system: `${'x '.repeat(50)}November 23, 2026` } },
    { body: { ...NEXT, system: `${'x '.repeat(50)}November 24, 2026` } },
    'system',
    'the system text changed at character 100: a date',
  ],
  [
    'a path',
    { body: { ...FIRST, system: 'In /home/ada/project now' } },
    { body: { ...NEXT, system: 'In /home/ada/another now' } },
    'system',
    'the system text changed at character 3: a path',
  ],
  [
    'a word',
    { body: { ...FIRST, system: `${'word '.repeat(20)}alpha` } },
    { body: { ...NEXT, system: `${'word '.repeat(20)}omega` } },
    'system',
    'the system text changed between characters 96 and 104',
  ],
  [
    'an added block',
    { body: FIRST },
    { body: { ...NEXT, system: [{ type: 'text', text: 'new' }, ...FIRST.system] } },
    'system',
    'system[0] was added',
  ],
  [
    'reordered tools',
    { body: FIRST },
    { body: { ...NEXT, tools: [tool('Read'), tool('Bash'), tool('Edit')] } },
    'tools',
    'the tool list was reordered',
  ],
  [
    'a description',
    { body: FIRST },
    { body: { ...NEXT, tools: [tool('Bash', { description: 'New.' }), tool('Read'), tool('Edit')] } },
    'tools',
    'tool `Bash` changed its description',
  ],
  [
    'a schema',
    { body: FIRST },
    { body: { ...NEXT, tools: [tool('Bash'), tool('Read', { input_schema: {} }), tool('Edit')] } },
    'tools',
    'tool `Read` changed its schema',
  ],
  [
    'added and removed tools',
    { body: FIRST },
    { body: { ...NEXT, tools: [tool('Bash'), tool('Glob'), tool('Grep')] } },
    'tools',
    'tool `Glob` and 1 more were added; tool `Read` and 1 more were removed',
  ],
  [
    'an edited message',
    { body: LONG },
    { body: { ...LONG, messages: LONG.messages.with(2, user('another')) } },
    'messages',
    'messages[2] was edited (user, text)',
  ],
  [
    'a removed message',
    { body: LONG },
    { body: { ...LONG, messages: LONG.messages.toSpliced(3, 1) } },
    'messages',
    'messages[3] was removed (assistant, text)',
  ],
  [
    'two removed messages',
    { body: LONG },
    { body: { ...LONG, messages: LONG.messages.toSpliced(1, 2) } },
    'messages',
    '2 messages from messages[1] on were removed',
  ],
  [
    'an inserted message',
    { body: LONG },
    { body: { ...LONG, messages: LONG.messages.toSpliced(1, 0, user('new')) } },
    'messages',
    'messages[1] was inserted (user, text)',
  ],
  [
    'a compaction',
    { body: LONG },
    { body: { ...FIRST, messages: [user('summary of all'), assistant('ok'), user('go on', MARK)] } },
    'compaction',
    '12 messages became 3: a compaction',
  ],
  [
    'a model',
    { body: FIRST },
    { body: NEXT, more: { target: { provider: 'anthropic', model: 'claude-opus-4-8' } } },
    'model',
    'claude-opus-4-8 in place of claude-sonnet-4-5',
  ],
  [
    'a model with its own system text',
    { body: FIRST },
    { body: { ...NEXT, system: 'other' }, more: { target: { provider: 'bedrock', model: 'm' } } },
    'model',
    'bedrock/m in place of anthropic/claude-sonnet-4-5',
  ],
  ['a key', { body: FIRST }, { body: NEXT, more: { account: 'b' } }, 'key', /^another key of anthropic/],
  [
    'a key, with an edit at the end',
    { body: LONG },
    { body: { ...LONG, messages: LONG.messages.with(11, user('x', MARK)) }, more: { account: 'b' } },
    'key',
    /^another key/,
  ],
  [
    'a pause',
    { body: FIRST },
    { body: NEXT, ...at(7) },
    'expired',
    'first request after 7 min: the cache had expired (5 min)',
  ],
  [
    'a pause of the long mark',
    { body: { ...FIRST, system: system('d', LONG_MARK), messages: [user('list files', LONG_MARK)] } },
    { body: { ...NEXT, system: system('d', LONG_MARK) }, ...at(80) },
    'expired',
    'first request after 1 h 20 min: the cache had expired (1 h)',
  ],
  [
    'a beta',
    { body: FIRST, more: { betas: ['a-1', 'b-2'] } },
    { body: NEXT, more: { betas: ['b-2', 'context-1m'] } },
    'beta',
    'anthropic-beta changed: added context-1m; removed a-1',
  ],
  [
    'settings',
    { body: FIRST },
    { body: { ...NEXT, tool_choice: { type: 'any' }, thinking: { type: 'disabled' } } },
    'settings',
    'tool_choice and thinking changed',
  ],
  [
    'no marks',
    { body: FIRST },
    {
      body: { ...NEXT, system: system('2026-11-23', {}), messages: [user('list files'), assistant('a b'), user('x')] },
    },
    'marks',
    'no block has `cache_control` any more',
  ],
  [
    'a far mark',
    { body: FIRST },
    { body: { ...FIRST, system: system('2026-11-23', {}), messages: [user('list files'), ...turnsOf(30).slice(1)] } },
    'marks',
    'a mark is 28 blocks behind that of the turn before: the provider looks back 20 blocks',
  ],
  [
    'a mark that moved back',
    { body: { ...LONG, messages: turnsOf(12) } },
    { body: { ...LONG, messages: [...turnsOf(12, {}), user('x')] } },
    'marks',
    'the last mark moved back by 11 blocks',
  ],
  [
    'five marks',
    { body: FIRST },
    {
      body: {
        ...NEXT,
        tools: FIRST.tools,
        messages: [
          user('list files', MARK),
          { role: 'assistant', content: [{ type: 'text', text: 'a b', ...MARK }] },
          user('c', MARK),
          user('d', MARK),
        ],
      },
    },
    'marks',
    '5 marks: the provider takes at most 4',
  ],
  ['nothing', { body: FIRST }, { body: NEXT }, 'unread', 'anthropic did not read it: no change was found'],
  [
    'a plugin',
    { body: LONG },
    {
      body: { ...LONG, messages: LONG.messages.with(2, user('cut')) },
      unedited: LONG,
      edits: [{ module: 'compress', field: 'messages' }],
    },
    'plugin',
    'plugin compress: messages[2] was edited (user, text)',
  ],
  [
    'a plugin that stopped',
    {
      body: { ...LONG, messages: LONG.messages.with(2, user('cut')) },
      unedited: LONG,
      edits: [{ module: 'compress', field: 'messages' }],
    },
    { body: LONG },
    'plugin',
    'plugin compress: messages[2] was edited (user, text)',
  ],
  [
    'the client, beside a plugin',
    { body: LONG, unedited: LONG, edits: [{ module: 'compress', field: 'messages' }] },
    {
      body: { ...LONG, system: system('2026-12-01') },
      unedited: { ...LONG, system: system('2026-12-01') },
      edits: [{ module: 'compress', field: 'messages' }],
    },
    'system',
    /a date$/,
  ],
  [
    'a date of a chat',
    {
      body: chat({ ...CHAT_SYSTEM, content: `${CHAT_SYSTEM.content}2026-11-23` }, { role: 'user', content: 'hi' }),
      more: openai,
    },
    {
      body: chat(
        { ...CHAT_SYSTEM, content: `${CHAT_SYSTEM.content}2026-11-24` },
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'a' },
      ),
      more: openai,
    },
    'system',
    'the system text changed at character 1400: a date',
  ],
  [
    'a pause of a chat',
    { body: chat(CHAT_SYSTEM), more: openai },
    { body: chat(CHAT_SYSTEM), more: { ...openai, sentAtMs: 12 * MINUTE_MS } },
    'expired',
    'first request after 12 min: the cache may have expired (5 min)',
  ],
  [
    'another prompt_cache_key',
    { body: { ...chat(CHAT_SYSTEM), prompt_cache_key: 'a' }, more: openai },
    { body: { ...chat(CHAT_SYSTEM), prompt_cache_key: 'b' }, more: openai },
    'settings',
    'prompt_cache_key changed',
  ],
]

for (const [title, first, second, reason, detail] of CASES) {
  test(`prefix loss: ${title} is named`, (t) => {
    const found = cause(first, second)
    t.is(found?.reason, reason)
    if (typeof detail === 'string') t.is(found?.detail, detail)
    else t.regex(found?.detail ?? '', detail)
    if (reason !== 'compaction') t.true((found?.tokens ?? 0) > 0)
  })
}

const NO_LOSS: readonly (readonly [title: string, first: Given, second: Given])[] = [
  ['all that was cached was read', { body: FIRST }, { body: NEXT, tokens: { read: 20_000, written: 500 } }],
  [
    'all was read, whatever changed',
    { body: FIRST },
    { body: { ...NEXT, system: system('x') }, tokens: { read: 20_100, written: 0 } },
  ],
  ['the difference is a step of the cache', { body: FIRST }, { body: NEXT, tokens: { read: 19_900, written: 600 } }],
  [
    'the user went back',
    { body: LONG },
    {
      body: { ...LONG, messages: [...LONG.messages.slice(0, 9), user('b', MARK)] },
      tokens: { read: 16_000, written: 500 },
    },
  ],
  [
    'nothing was cached',
    { body: FIRST, tokens: { written: 0, fresh: 300 } },
    { body: NEXT, tokens: { written: 0, fresh: 5000 } },
  ],
  [
    'another provider never read',
    {
      body: chat(CHAT_SYSTEM),
      tokens: { fresh: 5000, written: 0 },
      more: { ...openai, target: { provider: 'groq', model: 'llama' } },
    },
    {
      body: chat(CHAT_SYSTEM),
      tokens: { fresh: 5000, written: 0 },
      more: { ...openai, target: { provider: 'groq', model: 'llama' } },
    },
  ],
]

for (const [title, first, second] of NO_LOSS) {
  test(`prefix loss: none where ${title}`, (t) => t.is(cause(first, second), undefined))
}

test('prefix loss: marks that move and strings that become blocks are no change', (t) => {
  const plain = { ...NEXT, messages: [{ role: 'user', content: 'list files' }, ...NEXT.messages.slice(1)] }
  t.like(cause({ body: { ...FIRST, messages: [user('list files', MARK)] } }, { body: plain }), { reason: 'unread' })
  const marked = { ...FIRST.tools[2], ...MARK }
  t.like(cause({ body: FIRST }, { body: { ...NEXT, tools: [...FIRST.tools.slice(0, 2), marked] } }), {
    reason: 'unread',
  })
})

test('prefix loss: tools that are loaded later are no part of the prefix', (t) => {
  const later = { ...NEXT, tools: [...FIRST.tools, tool('Late', { defer_loading: true })] }
  t.like(cause({ body: FIRST }, { body: later }), { reason: 'unread' })
})

test('prefix loss: the tokens are those that were cached and paid again', (t) => {
  t.is(cause({ body: FIRST }, { body: NEXT })?.tokens, 20_000)
  t.is(cause({ body: FIRST }, { body: NEXT, tokens: { read: 5000, written: 15_500 } })?.tokens, 15_000)
  t.is(cause({ body: FIRST }, { body: NEXT, tokens: { fresh: 3000, written: 0 } })?.tokens, 3000)
})

test('prefix loss: a compaction costs what is left of the prompt and was not read, without the summary', (t) => {
  const compacted = { ...FIRST, messages: [user('summary '.repeat(200)), assistant('ok'), user('go on', MARK)] }
  t.like(cause({ body: LONG }, { body: compacted, tokens: { read: 1500, written: 500 } }), { tokens: 0 })
  const lost = cause({ body: LONG }, { body: compacted, tokens: { read: 0, written: 2000 } })?.tokens ?? 0
  t.true(lost > 800 && lost < 1600, String(lost))
})

test('prefix loss: a repeated prefix without marks is named with what could have been read', (t) => {
  const bare = { ...FIRST, system: 'rules '.repeat(1000), messages: [user('a')] }
  const next = { ...bare, messages: [user('a'), assistant('b'), user('c')] }
  const tokens = { fresh: 3000, written: 0 }
  const found = cause({ body: bare, tokens }, { body: next, tokens })
  t.like(found, { reason: 'unmarked' })
  t.true((found?.tokens ?? 0) > 2700 && (found?.tokens ?? 0) <= 3000)
})

test('prefix loss: a marked prompt under the least length is named, without cost', (t) => {
  const tokens = { fresh: 900, written: 0 }
  t.like(cause({ body: FIRST, tokens }, { body: NEXT, tokens }), {
    reason: 'too_short',
    detail: 'the prompt of 900 tokens is marked, and claude-sonnet-4-5 caches from 1024 tokens on',
    tokens: 0,
  })
})

test('prefix: a request that continues a stored response has no prefix of its own', (t) => {
  const body = Buffer.from(JSON.stringify({ model: 'm', input: 'x', previous_response_id: 'resp_1' }))
  t.is(readPrefix(body, 'responses'), undefined)
})

test('prefix: equal parts are shared with the digest before', (t) => {
  const first = read(LONG, 'messages').digest
  const next = readPrefix(Buffer.from(JSON.stringify({ ...LONG, max_tokens: 1 })), 'messages', [first])
  t.is(next?.tools, first.tools)
  t.is(next?.system.blocks[1]?.chunks, first.system.blocks[1]?.chunks)
})

test('prefix: a digest is the same with the digests of earlier turns as without them', (t) => {
  const marked = { ...LONG, messages: [...turnsOf(14), user('more', MARK)] }
  const edited = { ...LONG, messages: LONG.messages.with(3, assistant('other')) }
  const bodies = [LONG, marked, edited, NEXT, { ...LONG, tools: LONG.tools.slice(1) }, { ...LONG, system: 'short' }]
  const digests = bodies.map((body) => read(body, 'messages').digest)
  for (const body of bodies) {
    const bytes = Buffer.from(JSON.stringify(body))
    for (const known of digests) t.deepEqual(readPrefix(bytes, 'messages', [known]), readPrefix(bytes, 'messages'))
    t.deepEqual(readPrefix(bytes, 'messages', digests), readPrefix(bytes, 'messages'))
  }
})

test('prefix: the memory of turns is bounded, by conversation and in all', (t) => {
  const memory = new TurnMemory()
  const long = turn({ body: { ...FIRST, messages: turnsOf(400) } }).made
  for (let i = 0; i < 50; i++) memory.add('one', { ...long, sentAtMs: i }, undefined)
  t.is(memory.turnsOf('one')?.length, 8)
  let before: SentTurn | undefined
  for (let i = 0; i < 50; i++) {
    const next = { ...long, sentAtMs: i }
    memory.add('grown', next, before)
    before = next
  }
  t.deepEqual(
    memory.turnsOf('grown')?.map(({ sentAtMs }) => sentAtMs),
    [48, 49],
  )
  for (let i = 0; i < 3000; i++) memory.add(`other-${i}`, long, undefined)
  t.is(memory.turnsOf('one'), undefined)
  t.is(memory.turnsOf('other-2999')?.length, 1)
  for (const name of ['other-2999', 'short']) memory.note(name)
  t.deepEqual(
    ['other-2999', 'short'].map((name) => memory.turnsOf(name)?.length),
    [1, 0],
  )
})

test('prefix: parts of Responses and Gemini requests', (t) => {
  const items = [
    { type: 'function_call', call_id: 'c', name: 'ls', arguments: '{}' },
    { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
  ]
  const ofResponses = read(
    { instructions: 'be brief', tools: [{ type: 'function', name: 'ls' }], input: items },
    'responses',
  ).digest
  t.deepEqual(
    [ofResponses.tools.tools.length, ofResponses.system.blocks.length, ofResponses.messages.kinds],
    [1, 1, ['item', 'user, input_text']],
  )
  const ofGemini = read(
    {
      systemInstruction: { parts: [{ text: 'be brief' }] },
      tools: [{ functionDeclarations: [{ name: 'a' }, { name: 'b' }] }],
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    },
    'gemini',
  ).digest
  t.deepEqual(
    ofGemini.tools.tools.map(({ name }) => name),
    ['a', 'b'],
  )
  t.deepEqual([ofGemini.system.blocks.length, ofGemini.messages.kinds], [1, ['user, text']])
})

test('prefix: a turn continues the one with which it shares messages, and none that was still running', (t) => {
  const a = turn({ body: LONG, more: { sentAtMs: 0, beganAtMs: 10 } }).made
  const aside = turn({
    body: { system: 'Name this chat.', messages: [user('list files')] },
    more: { target: { provider: 'anthropic', model: 'haiku' }, sentAtMs: 20, beganAtMs: 30 },
  }).made
  const running = turn({ body: LONG, more: { sentAtMs: 40, beganAtMs: 500 } }).made
  const next = turn({ body: { ...LONG, messages: [...LONG.messages, user('more')] }, more: { sentAtMs: 100 } }).made
  t.is(predecessorOf([a, aside, running], next), a)
  t.is(predecessorOf([a, running], aside), undefined)
  const compacted = turn({ body: { ...FIRST, messages: [user('summary')] }, more: { sentAtMs: 600 } }).made
  t.is(predecessorOf([a, aside, running], compacted), running)
})
