import test, { type ExecutionContext } from 'ava'
import { assembleCompletion, assertChatStream } from '../support/chat-chunks.ts'
import { assembleMessage, assertMessageStream } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { ask } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { createPluginDirectory, type PluginParts, pluginSource } from '../support/plugin-folders.ts'
import { toSse } from '../support/provider/message-events.ts'
import { MODELS, openProviderFixture, type ProviderName } from '../support/provider-fixture.ts'
import { connectRaw } from '../support/raw-client.ts'

const head = `import { replaceText } from 'turnpike/plugin'`
const LONGEST = 10

/** Plugins that rewrite replies. */
const PLUGINS: Record<string, PluginParts> = {
  mask: {
    head,
    run: `await next(); exchange.mapText(replaceText(/\\bsecret\\b|geh😀eim/giu, '[…]', { longest: ${LONGEST} }))`,
  },
  shout: { run: 'await next(); exchange.mapText((text) => text.toUpperCase())' },
  tools: {
    run: `await next()
      exchange.mapToolInput((json, { name }) => (name === 'run' ? json.replace('rm -rf', 'ls') : json))`,
  },
  'wrong-tools': { onError: 'refuse', run: `await next(); exchange.mapToolInput(() => '[1]')` },
  number: {
    setup: 'let calls = 0',
    run: 'await next(); exchange.mapText(() => String(++calls))',
  },
  drop: {
    run: `await next()
      const dropped = new Set()
      exchange.mapEvents((event) => {
        const { index, content_block } = JSON.parse(event.data)
        if (content_block?.name === 'run') dropped.add(index)
        return dropped.has(index) ? [] : event
      })`,
  },
  frame: {
    run: `await next()
      exchange.mapEvents((event) => {
        if (event.name !== 'content_block_start' || JSON.parse(event.data).index !== 0) return event
        const block = (name, more) => ({ name, data: JSON.stringify({ type: name, index: 0, ...more }) })
        return [
          block('content_block_start', { content_block: { type: 'text', text: '' } }),
          block('content_block_delta', { delta: { type: 'text_delta', text: 'Checked: ' } }),
          block('content_block_stop', {}),
          event,
        ]
      })`,
  },
  early: { onError: 'refuse', run: 'exchange.mapText((text) => text); await next()' },
}

/** Plugins that rewrite from a timer: when the reply is being sent, or when they have been bypassed. */
for (const [name, run] of [
  ['late', 'await next(); attempt()'],
  ['bypassed', `attempt(); throw new Error('at once')`],
] as const)
  PLUGINS[name] = {
    needs: ['log'],
    run: `const attempt = () => setTimeout(() => {
        try {
          if (exchange.reply === undefined) return attempt()
          exchange.mapText((text) => text)
          services.log.info({}, '${name}.rewrote')
        } catch (error) {
          services.log.info({ reason: error.message }, '${name}.refused')
        }
      }, 20)
      ${run}`,
  }

/** Plugins that fail at the word «boom». */
for (const onError of ['bypass', 'refuse'] as const)
  PLUGINS[`boom-${onError}`] = {
    onError,
    run: `await next()
      exchange.mapText((text) => {
        if (text.includes('boom')) throw new Error('no such luck')
        return text.replace('one', 'ONE')
      })`,
  }

let remove = () => {}
const teardown = (given: () => void) => {
  remove = given
}
const plugins = createPluginDirectory({ teardown })
for (const [name, parts] of Object.entries(PLUGINS)) plugins.put(`${name}/index.js`, pluginSource(name, parts))
const fixture = await openProviderFixture({ env: { SVC_PLUGINS_DIR: plugins.path } })
test.after.always(async () => {
  await fixture.close()
  remove()
})

type Client = 'messages' | 'chat'
type Scenario = ReturnType<typeof fixture.scenario>

interface Request {
  readonly client: Client
  readonly provider: ProviderName
  readonly stream: boolean
  readonly pipe: string
  readonly more?: JsonObject
}

function sendTo(scenario: Scenario, { client, provider, stream, pipe, more = {} }: Request) {
  const path = client === 'chat' ? '/v1/chat/completions' : '/v1/messages'
  const body = { ...ask('Hello', { model: MODELS[provider], stream }), ...more }
  return scenario.send({ path, body, headers: { 'x-svc-pipe': pipe } })
}

/** The text and the calls of a reply in the client's dialect. A stream must keep the rules of its dialect. */
function answerOf(body: Buffer, { client, stream }: Pick<Request, 'client' | 'stream'>) {
  if (client === 'chat') {
    const completion = stream ? assembleChat(body) : JSON.parse(body.toString())
    const { content, tool_calls = [] } = completion.choices[0].message
    // biome-ignore lint/suspicious/noExplicitAny: members of a parsed reply
    return { text: content ?? '', inputs: tool_calls.map((call: any) => call.function.arguments) }
  }
  const message = stream ? assembleMessage(assertMessageStream(body)) : JSON.parse(body.toString())
  // biome-ignore lint/suspicious/noExplicitAny: members of a parsed reply
  const blocks = message.content as any[]
  return {
    text: blocks.map(({ text = '' }) => text).join(''),
    inputs: blocks.flatMap(({ input }) => (input === undefined ? [] : [JSON.stringify(input)])),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: members of a parsed reply
function assembleChat(body: Buffer): any {
  assertChatStream(body)
  return assembleCompletion(body)
}

async function usageOf(scenario: Scenario, id: unknown): Promise<unknown> {
  let receipt: unknown
  await eventually(async () => {
    const found = await scenario.send({ method: 'GET', path: `/v1/receipts/${id}` })
    receipt = found.json
    return found.status === 200
  }, 'the receipt is written')
  return valueAt(receipt, 'usage')
}

const TEXT = 'One secret, two SECRETS and geh😀eim; the third: Secret'
const MASKED = 'One […], two SECRETS and […]; the third: […]'
const PAIRS: readonly [Client, ProviderName][] = [
  ['messages', 'anthropic'],
  ['messages', 'openai'],
  ['messages', 'gemini'],
  ['chat', 'anthropic'],
  ['chat', 'openai'],
  ['chat', 'gemini'],
]

for (const [client, provider] of PAIRS)
  for (const stream of [false, true]) {
    const what = `${client} client, ${provider}, ${stream ? 'stream' : 'JSON'}`
    test(`rewriting: the texts of a reply are rewritten and its usage stays: ${what}`, async (t) => {
      const scenario = fixture.scenario({ [provider]: { kind: 'answer', text: TEXT } })
      const request = { client, provider, stream, more: stream && client === 'chat' ? USAGE : {} }
      const plain = await sendTo(scenario, { ...request, pipe: 'none' })
      const masked = await sendTo(scenario, { ...request, pipe: 'mask' })
      t.is(answerOf(plain.body, request).text, TEXT)
      t.is(masked.status, 200, masked.text)
      t.is(answerOf(masked.body, request).text, MASKED)
      const usages = await Promise.all(
        [plain, masked].map(({ headers }) => usageOf(scenario, headers['x-svc-receipt'])),
      )
      t.deepEqual(usages[1], usages[0])
      t.truthy(usages[0])
    })
  }

const USAGE = { stream_options: { include_usage: true } }
const DELTA = (text: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
})
const START = {
  type: 'message_start',
  message: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 3, output_tokens: 1 } },
  },
}
const END = [
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 9 },
  },
  { type: 'message_stop' },
]
const BEGIN = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }

/** A Messages stream with a text in these pieces. */
function streamOf(...pieces: readonly string[]): Buffer {
  return toSse([START, BEGIN, ...pieces.map(DELTA), ...END])
}

async function relayed(t: ExecutionContext, bytes: Buffer | string, pipe: string, sizes?: readonly number[]) {
  const scenario = fixture.scenario({ anthropic: { kind: 'sse', bytes, ...(sizes && { writes: { sizes } }) } })
  const reply = await sendTo(scenario, { client: 'messages', provider: 'anthropic', stream: true, pipe })
  t.is(reply.status, 200, reply.text)
  return reply
}

test('rewriting: a text is found wherever it is cut, also inside of a character', async (t) => {
  for (let at = 0; at <= TEXT.length; at++) {
    const { body } = await relayed(t, streamOf(TEXT.slice(0, at), TEXT.slice(at)), 'mask')
    t.is(answerOf(body, { client: 'messages', stream: true }).text, MASKED, `cut at ${at}`)
  }
  const { body } = await relayed(t, streamOf(...TEXT), 'mask', [1])
  t.is(answerOf(body, { client: 'messages', stream: true }).text, MASKED)
})

/** Spellings that no printer of JSON or events makes. */
const ODD = [
  ': hello\n\n',
  `event: message_start\ndata:  ${JSON.stringify(START).replaceAll(':', ' : ')}\n\n`,
  `event: content_block_start\r\ndata:{"index":0,"type":"content_block_start","content_block":{"type":"thinking","thinking":"","signature":""}}\r\n\r\n`,
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a secret thought"}}\n\n`,
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2VjcmV0IHNlY3JldA=="}}\n\n`,
  `event: content_block_stop\ndata: {"type":"content_block_stop","index":0 }\n\n`,
  `event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}\n\n`,
  `event: ping\ndata: {"type": "ping"}\n\n`,
  `id: 7\nevent: content_block_delta\ndata: {"type":"content_block_delta","x":1.0,\ndata: "index":1,"delta":{"type":"text_delta","text":"h\\u00e9 a \\ud83d"}}\nretry: 3\n\n`,
  `event: content_block_delta\ndata: {"type":"content_block_delta","big":9007199254740993,"index":1,"delta":{"type":"text_delta","text":"\\ude00 WORD and \\/ some more"}}\n\n`,
  `event: content_block_stop\ndata: {"type":"content_block_stop","index":1}\n\n`,
  `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}\n\n`,
  `event: message_stop\ndata: {"type":"message_stop"}\n\n`,
].join('')

test('rewriting: where nothing matches, and outside of what matches, bytes are the provider’s; thinking is not touched', async (t) => {
  t.is((await relayed(t, ODD, 'mask', [7, 1, 30])).body.toString(), ODD)
  const secret = ODD.replace('WORD', 'Secret')
  const { body } = await relayed(t, secret, 'mask', [5])
  const [before = '', behind = ''] = ODD.split('\\ude00 WORD and \\/ some more')
  t.true(body.toString().startsWith(before))
  t.true(body.toString().endsWith(behind))
  t.regex(body.toString(), /\\ude00 \[…\] and \/ some more/)
})

test('rewriting: an unknown header of digests does not survive, and a JSON reply has the length that it has', async (t) => {
  const message = { ...START.message, stop_reason: 'end_turn', content: [{ type: 'text', text: 'a secret' }] }
  const headers = { etag: '"abc"', 'repr-digest': 'sha-256=:x:', 'x-kept': '1' }
  const scenario = fixture.scenario({ anthropic: { kind: 'reply', body: message, headers, encoding: 'gzip' } })
  const reply = await sendTo(scenario, { client: 'messages', provider: 'anthropic', stream: false, pipe: 'mask' })
  t.is(reply.text, JSON.stringify(message).replace('secret', '[…]'))
  t.like(reply.headers, { 'x-kept': '1', 'content-length': String(reply.body.length) })
  t.deepEqual(
    [reply.headers.etag, reply.headers['repr-digest'], reply.headers['content-encoding']],
    [undefined, undefined, undefined],
  )
})

test('rewriting: a compressed stream is rewritten as well', async (t) => {
  const scenario = fixture.scenario({
    anthropic: { kind: 'answer', text: TEXT, encoding: 'br', writes: { sizes: [9] } },
  })
  const reply = await sendTo(scenario, { client: 'messages', provider: 'anthropic', stream: true, pipe: 'mask' })
  t.is(answerOf(reply.body, { client: 'messages', stream: true }).text, MASKED)
})

test('rewriting: several modules rewrite one after the other, the innermost first', async (t) => {
  const inner = await relayed(t, streamOf('a sec', 'ret é'), 'shout,mask')
  t.is(answerOf(inner.body, { client: 'messages', stream: true }).text, 'A […] É')
  const both = await relayed(t, streamOf('a sec', 'ret'), 'mask,shout,number')
  t.regex(answerOf(both.body, { client: 'messages', stream: true }).text, /^\d+$/)
})

for (const stream of [false, true]) {
  test(`rewriting: a cache in front stores what was rewritten, one behind what the provider sent: ${stream}`, async (t) => {
    const scenario = fixture.scenario({ anthropic: { kind: 'answer', text: 'word' } })
    const request = { client: 'messages', provider: 'anthropic', stream } as const
    const textOf = async (pipe: string) => {
      const reply = await sendTo(scenario, {
        ...request,
        pipe,
        more: { messages: [{ role: 'user', content: `Cached: ${stream}` }] },
      })
      return [reply.headers['x-svc-cache'], answerOf(reply.body, request).text]
    }
    const [, first] = await textOf('exact-cache,number')
    t.deepEqual(await textOf('exact-cache,number'), ['hit', first])
    const [, before] = await textOf('number,exact-cache')
    const [state, after] = await textOf('number,exact-cache')
    t.is(state, 'hit')
    t.not(after, before)
    t.is(scenario.seen('anthropic').length, 2)
  })
}

const CALLS = {
  anthropic: [
    { type: 'text', text: 'I call.' },
    { type: 'tool_use', id: 'toolu_1', name: 'run', input: { command: 'rm -rf ../x', n: 1 } },
    { type: 'tool_use', id: 'toolu_2', name: 'other', input: { command: 'rm -rf ../y' } },
  ],
  openai: [
    { id: 'call_1', name: 'run', arguments: '{"command":"rm -rf ../x","n":1.0}' },
    { id: 'call_2', name: 'other', arguments: '{"command":"rm -rf ../y"}' },
  ],
} as const
const TOOLS = {
  messages: ['run', 'other'].map((name) => ({ name, input_schema: { type: 'object' } })),
  chat: ['run', 'other'].map((name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })),
}

for (const client of ['messages', 'chat'] as const)
  for (const provider of ['anthropic', 'openai'] as const)
    for (const stream of [false, true]) {
      const what = `${client} client, ${provider}, ${stream ? 'stream' : 'JSON'}`
      const more = { tools: TOOLS[client], ...(stream && client === 'chat' && USAGE) }
      const request = { client, provider, stream, more }
      const scripts =
        provider === 'anthropic'
          ? { anthropic: { kind: 'answer', content: CALLS.anthropic, stopReason: 'tool_use' } as const }
          : { openai: { kind: 'answer', toolCalls: CALLS.openai, interleaved: true } as const }

      test(`rewriting: arguments of a tool are rewritten whole, others and those of other tools stay: ${what}`, async (t) => {
        const scenario = fixture.scenario(scripts)
        const plain = await sendTo(scenario, { ...request, pipe: 'none' })
        const reply = await sendTo(scenario, { ...request, pipe: 'tools' })
        t.is(reply.status, 200, reply.text)
        const [mine, others] = answerOf(reply.body, request).inputs
        t.like(JSON.parse(mine), { command: 'ls ../x', n: 1 })
        t.is(others, answerOf(plain.body, request).inputs[1])
      })

      test(`rewriting: arguments must stay an object: ${what}`, async (t) => {
        const reply = await sendTo(fixture.scenario(scripts), { ...request, pipe: 'wrong-tools' })
        if (!stream) return t.is(reply.status, 503)
        t.regex(reply.text, /"error".*The reply broke off: module wrong-tools failed/)
      })

      test(`rewriting: events are left out in the Messages shape, whatever the dialect: ${what}`, async (t) => {
        const reply = await sendTo(fixture.scenario(scripts), { ...request, pipe: 'drop' })
        t.is(reply.status, 200, reply.text)
        t.notRegex(reply.text, /\.\.\/x/)
        t.regex(reply.text, /other/)
      })
    }

test('rewriting: a client that leaves cancels the provider, also while a text is held back', async (t) => {
  const never = new Promise<void>(() => {})
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const between = (writesDone: number) => {
    if (writesDone === 4) held.resolve()
    return writesDone === 4 ? { until: never } : undefined
  }
  const bytes = streamOf('a beginning', ' sec', 'ret')
  const scenario = fixture.scenario({ anthropic: { kind: 'sse', bytes, writes: { sizes: 'events', between } } })
  const leave = new AbortController()
  const sent = scenario.send({
    body: ask('To be left', { model: MODELS.anthropic, stream: true }),
    headers: { 'x-svc-pipe': 'mask,exact-cache' },
    signal: leave.signal,
    onChunk: () => begun.resolve(),
  })
  await Promise.all([held.promise, begun.promise])
  leave.abort()
  await sent
  t.is(await scenario.seen('anthropic')[0]?.closed, 'client-left')
})

test('rewriting: bypass passes the original on when nothing rewritten has, in JSON and stream', async (t) => {
  const bytes = streamOf('nothing of that yet ', 'here it goes boom', ' and on')
  const reply = await relayed(t, bytes, 'boom-bypass', [40])
  t.is(reply.body.toString(), bytes.toString())
  const scenario = fixture.scenario({ anthropic: { kind: 'answer', text: 'one boom' } })
  const json = await sendTo(scenario, { client: 'messages', provider: 'anthropic', stream: false, pipe: 'boom-bypass' })
  t.is(answerOf(json.body, { client: 'messages', stream: false }).text, 'one boom')
  t.is(json.headers['x-svc-pipe'], 'none')
  t.regex(fixture.gateway.log(), /no such luck.*"module\.failed"/)
})

for (const [pipe, first, seen] of [
  ['boom-bypass', 'one ', 'ONE'],
  ['boom-refuse', 'nothing rewritten ', 'nothing'],
] as const)
  test(`rewriting: a stream that cannot go on ends with an error, and the provider is cancelled: ${pipe}`, async (t) => {
    const never = new Promise<void>(() => {})
    const rewritten = Promise.withResolvers<void>()
    // The first text has left before the second arrives; after it the provider is silent.
    const waits = new Map([
      [3, rewritten.promise],
      [4, never],
    ])
    const between = (writesDone: number) => {
      const until = waits.get(writesDone)
      return until && { until }
    }
    const bytes = streamOf(first, 'boom', 'never')
    const scenario = fixture.scenario({ anthropic: { kind: 'sse', bytes, writes: { sizes: 'events', between } } })
    let text = ''
    const reply = await scenario.send({
      body: ask('Hello', { model: MODELS.anthropic, stream: true }),
      headers: { 'x-svc-pipe': pipe },
      onChunk(chunk) {
        text += chunk
        if (text.includes(seen)) rewritten.resolve()
      },
    })
    t.regex(reply.text, new RegExp(`event: error\\ndata: .*module ${pipe} failed`))
    t.notRegex(reply.text, /boom"|no such luck/)
    t.is(await scenario.seen('anthropic')[0]?.closed, 'client-left')
    const receipt = () => scenario.send({ method: 'GET', path: `/v1/receipts/${reply.headers['x-svc-receipt']}` })
    await eventually(async () => (await receipt()).status === 200, 'the receipt is written')
    t.like((await receipt()).json, { outcome: 'incomplete', usage: { input_tokens: 3 } })
  })

test('rewriting: a refusal of the module fails a JSON reply, and a call before there is a reply is an error', async (t) => {
  const scenario = fixture.scenario({ anthropic: { kind: 'answer', text: 'one boom' } })
  const request = { client: 'messages', provider: 'anthropic', stream: false } as const
  t.is((await sendTo(scenario, { ...request, pipe: 'boom-refuse' })).status, 503)
  t.is((await sendTo(scenario, { ...request, pipe: 'early' })).status, 503)
  await eventually(() => /there is no reply to rewrite: call it after/.test(fixture.gateway.log()), 'the reason')
})

test('rewriting: an error of the provider passes as it is', async (t) => {
  const scenario = fixture.scenario({ anthropic: { kind: 'error', status: 400, message: 'a secret error' } })
  const reply = await sendTo(scenario, {
    client: 'messages',
    provider: 'anthropic',
    stream: false,
    pipe: 'mask,drop,tools',
  })
  t.is(reply.status, 400)
  t.regex(reply.text, /a secret error/)
})

for (const [client, provider] of PAIRS)
  for (const stream of [false, true])
    test(`rewriting: events are added, and blocks counted anew: ${client} client, ${provider}, stream ${stream}`, async (t) => {
      const scenario = fixture.scenario({ [provider]: { kind: 'answer', text: TEXT } })
      const request = { client, provider, stream, more: stream && client === 'chat' ? USAGE : {} }
      const reply = await sendTo(scenario, { ...request, pipe: 'mask,frame' })
      t.is(answerOf(reply.body, request).text, `Checked: ${MASKED}`)
    })

for (const stream of [false, true])
  test(`rewriting: costs are the same with a guard in front, behind or alone: stream ${stream}`, async (t) => {
    const scenario = fixture.scenario({ anthropic: { kind: 'answer', text: TEXT } })
    const guard = 'cost-guard?per_day=50'
    const bills = []
    for (const pipe of [guard, `mask,frame,${guard}`, `${guard},mask,frame`]) {
      const { headers, text } = await sendTo(scenario, { client: 'messages', provider: 'anthropic', stream, pipe })
      const usage = await usageOf(scenario, headers['x-svc-receipt'])
      const receipt = await scenario.send({ method: 'GET', path: `/v1/receipts/${headers['x-svc-receipt']}` })
      bills.push([usage, valueAt(receipt.json, 'cost'), valueAt(receipt.json, 'outcome')])
      t.is(text.includes('Checked'), pipe !== guard)
    }
    t.deepEqual(bills[1], bills[0])
    t.deepEqual(bills[2], bills[0])
    t.truthy(bills[0]?.[1])
  })

for (const pipe of ['late', 'bypassed'])
  test(`rewriting: a call that comes too late is an error and leaves the reply as it is: ${pipe}`, async (t) => {
    const tried = Promise.withResolvers<void>()
    const between = (writesDone: number) => (writesDone === 3 ? { until: tried.promise } : undefined)
    const bytes = streamOf('one', 'two', 'three')
    const scenario = fixture.scenario({ anthropic: { kind: 'sse', bytes, writes: { sizes: 'events', between } } })
    const sent = sendTo(scenario, { client: 'messages', provider: 'anthropic', stream: true, pipe })
    await eventually(() => new RegExp(`"${pipe}\\.`).test(fixture.gateway.log()), 'the module has tried')
    tried.resolve()
    t.is((await sent).body.toString(), bytes.toString())
    t.regex(fixture.gateway.log(), new RegExp(`"${pipe}\\.refused"`))
  })

test('rewriting: a client that does not read holds the provider back', async (t) => {
  const events = 48
  const text = `${'x'.repeat(1023)} `.repeat(1024)
  let written = 0
  const between = (writesDone: number) => {
    written = writesDone
    return undefined
  }
  const bytes = streamOf(...Array.from({ length: events }, () => text))
  const scenario = fixture.scenario({ anthropic: { kind: 'sse', bytes, writes: { sizes: 'events', between } } })
  const body = JSON.stringify(ask('Hello', { model: MODELS.anthropic, stream: true }))
  const headers = {
    ...scenario.headers,
    'x-svc-pipe': 'shout',
    authorization: 'Bearer x',
    'content-type': 'application/json',
    'content-length': body.length,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const client = await connectRaw(Number(new URL(fixture.gateway.url).port))
  client.pause()
  client.write(`POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${lines.join('')}\r\n${body}`)
  let before = -1
  let same = 0
  await eventually(() => {
    same = written === before && written > 0 ? same + 1 : 0
    before = written
    return same > 20
  }, 'the provider waits')
  t.true(written < events, `${written} of ${events} events written`)
  client.resume()
  await client.closed
  t.true(client.receivedBytes() > bytes.length)
})
