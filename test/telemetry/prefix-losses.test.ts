import test, { type ExecutionContext } from 'ava'
import { eventually } from '../support/eventually.ts'
import { type Reply, send } from '../support/http-client.ts'
import { isJsonObject, type JsonObject, valueAt } from '../support/json.ts'
import { createPluginDirectory, pluginSource } from '../support/plugin-folders.ts'
import { bookOf, usageOf } from '../support/price-usage.ts'
import { createBilledCache } from '../support/provider/billed-cache.ts'
import { openProviderFixture } from '../support/provider-fixture.ts'

/*
 * Conversations with a stand-in that keeps a prompt cache of its own and bills its own reading: each planted loss is named
 * with its cause, at the price of what was paid again.
 */
const MODEL = 'claude-sonnet-4-5'
const MARK = { cache_control: { type: 'ephemeral' } }
const KEYS = ['sk-ant-one', 'sk-ant-two']
const RULES = 'Follow the rules of the house. '.repeat(260)
const DATE_AT = RULES.length + 'Today is '.length
const realNow = Date.now
let passedMs = 0
/** Time that a busy machine takes from this thread whenever it reads the clock, until a provider is called. */
let busyMs = 0
/** Lets time pass for the gateway and the stand-in, which are in this thread. */
Date.now = () => {
  const untilMs = performance.now() + busyMs
  while (performance.now() < untilMs);
  return realNow() + passedMs
}

const removals: (() => void)[] = []
const plugins = createPluginDirectory(
  { teardown: (remove) => removals.push(remove) },
  {
    'cutter/index.ts': pluginSource('cutter', {
      run: `if (exchange.headers['x-claude-code-cut'] !== undefined)
        exchange.edit({ op: 'replace', path: ['messages', 0, 'content'], value: 'cut '.repeat(1500) })
      await next()`,
    }),
  },
)
const fixture = await openProviderFixture({
  config: { providers: { anthropic: { keys: KEYS.map((api_key) => ({ api_key })) } } },
  env: { ANTHROPIC_API_KEY: '', SVC_PLUGINS_DIR: plugins.path },
})
test.after.always('close the fixture', async () => {
  Date.now = realNow
  await fixture.close()
  for (const remove of removals) remove()
})

type Wire = 'messages' | 'chat' | 'responses'

const PATHS: Readonly<Record<Wire, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
}

interface Prompt {
  readonly date: string
  readonly tools: readonly string[]
  readonly isMarked: boolean
  readonly model: string
}

const USUAL: Prompt = { date: '2026-11-23', tools: ['Bash', 'Read', 'Edit'], isMarked: true, model: MODEL }
const SCHEMA = { type: 'object', properties: { path: { type: 'string' } } }

type Turn = readonly [user: string, assistant?: string]

/** Writes a request in a client's own dialect; the last user's text is marked, as agents do. */
function bodyOf(wire: Wire, prompt: Prompt, turns: readonly Turn[]): JsonObject {
  const mark = (isLast: boolean) => (prompt.isMarked && isLast ? MARK : {})
  const rules = `${RULES}Today is ${prompt.date}. Be brief.`
  const last = turns.length - 1
  const texts = (type: string, output: string) =>
    turns.flatMap(([user, assistant], index) => [
      { role: 'user', content: [{ type, text: user, ...mark(index === last) }] },
      ...(assistant === undefined ? [] : [{ role: 'assistant', content: [{ type: output, text: assistant }] }]),
    ])
  if (wire === 'messages')
    return {
      model: prompt.model,
      max_tokens: 100,
      tools: prompt.tools.map((name) => ({ name, description: `Runs ${name}.`, input_schema: SCHEMA })),
      system: [{ type: 'text', text: rules, ...mark(true) }],
      messages: texts('text', 'text'),
    }
  if (wire === 'chat')
    return {
      model: `anthropic/${prompt.model}`,
      tools: prompt.tools.map((name) => ({
        type: 'function',
        function: { name, description: `Runs ${name}.`, parameters: SCHEMA },
      })),
      messages: [{ role: 'system', content: [{ type: 'text', text: rules, ...mark(true) }] }, ...texts('text', 'text')],
    }
  return {
    model: `anthropic/${prompt.model}`,
    store: false,
    tools: prompt.tools.map((name) => ({ type: 'function', name, description: `Runs ${name}.`, parameters: SCHEMA })),
    instructions: rules,
    input: texts('input_text', 'output_text'),
  }
}

let sessions = 0

interface Sent {
  readonly prompt?: Partial<Prompt>
  readonly headers?: Readonly<Record<string, string>>
  readonly more?: JsonObject
  readonly turns?: readonly Turn[]
}

/** Opens a conversation of a client with a stand-in and its prompt cache. */
function converse(wire: Wire = 'messages', { session = `session-${++sessions}`, pipe = 'none' } = {}) {
  const cache = createBilledCache({ kind: 'answer', text: 'done' })
  let refusals = 0
  const scenario = fixture.scenario({
    anthropic(_, request) {
      busyMs = 0
      if (refusals-- > 0) return { kind: 'error', status: 429, headers: { 'retry-after': '60' } }
      return cache.script(request)
    },
  })
  const turns: Turn[] = []
  const post = (sent: Sent, said: readonly Turn[]) =>
    scenario.send({
      path: PATHS[wire],
      headers: { 'x-claude-code-session-id': session, 'x-svc-pipe': pipe, ...sent.headers },
      body: { ...bodyOf(wire, { ...USUAL, ...sent.prompt }, said), ...sent.more },
    })
  return {
    cache,
    session,
    turns,
    post,
    refuseNext: () => {
      refusals = 1
    },
    /** Sends the next turn, and returns the loss on its row. */
    async say(text: string, sent: Sent = {}): Promise<Loss> {
      const said = sent.turns ?? [...turns, [text] as const]
      const reply = await post(sent, said)
      turns.splice(0, turns.length, ...said.slice(0, -1), [said.at(-1)?.[0] ?? '', 'done'])
      return lossOf(reply)
    },
  }
}

type Loss = JsonObject | null

async function rowOf({ headers, status, text }: Reply): Promise<JsonObject> {
  if (status !== 200) throw new Error(`${status} ${text}`)
  let row: unknown
  const find = async () => {
    const path = `/dashboard/api/requests/${headers['x-svc-receipt']}`
    row = valueAt((await send(fixture.gateway.url, { method: 'GET', path })).json, 'request')
    return row !== undefined
  }
  await eventually(find, 'a row')
  return isJsonObject(row) ? row : {}
}

async function lossOf(reply: Reply): Promise<Loss> {
  const { lost } = await rowOf(reply)
  if (lost !== null && !isJsonObject(lost)) throw new Error(`expected a loss or null, got ${JSON.stringify(lost)}`)
  return lost
}

/** Asserts the cause of a loss, and that its price is that of writing its tokens, minus that of reading them. */
function assertLoss(t: ExecutionContext, lost: Loss, reason: string, detail: string | RegExp): void {
  t.is(lost?.reason, reason, JSON.stringify(lost))
  if (typeof detail === 'string') t.is(lost?.detail, detail)
  else t.regex(String(lost?.detail), detail)
  const tokens = Number(lost?.tokens)
  t.true(tokens > 1000, `${tokens} tokens`)
  const price = (usage: Parameters<typeof usageOf>[0]) =>
    bookOf().price({ provider: 'anthropic', model: MODEL }, usageOf(usage), Date.now()).costNanoUsd
  if (reason !== 'model')
    t.is(lost?.nanoUsd, price({ cacheCreationInputTokens: tokens }) - price({ cacheReadInputTokens: tokens }))
}

test.serial('prefix losses: a turn continues the one before, however long that took to be admitted', async (t) => {
  const { post } = converse()
  busyMs = 200
  await post({}, [['list files']])
  const reply = await post({ prompt: { date: '2026-11-24' } }, [['list files', 'done'], ['delete a']])
  assertLoss(t, await lossOf(reply), 'system', /a date$/)
})

for (const wire of ['messages', 'chat', 'responses'] as const) {
  test.serial(
    `prefix losses: a growing conversation of a ${wire} client has none, and each change is named`,
    async (t) => {
      const { say } = converse(wire)
      t.is(await say('list files'), null)
      t.is(await say('delete a'), null)
      t.is(await say('delete b'), null)
      const date = await say('and c', { prompt: { date: '2026-11-24' } })
      assertLoss(
        t,
        date,
        'system',
        new RegExp(`^(the system text|system\\[0\\]) changed at character ${DATE_AT}: a date$`),
      )
      t.is(await say('next', { prompt: { date: '2026-11-24' } }), null)
      const usual = { date: '2026-11-24' }
      const reordered = await say('next', { prompt: { ...usual, tools: ['Read', 'Bash', 'Edit'] } })
      assertLoss(t, reordered, 'tools', 'the tool list was reordered')
      const added = await say('next', { prompt: { ...usual, tools: ['Read', 'Bash', 'Edit', 'Glob'] } })
      assertLoss(t, added, 'tools', 'tool `Glob` was added')
      const model = await say('next', {
        prompt: { ...usual, tools: ['Read', 'Bash', 'Edit', 'Glob'], model: 'claude-opus-4-8' },
      })
      assertLoss(t, model, 'model', `claude-opus-4-8 in place of ${MODEL}`)
    },
  )
}

test.serial('prefix losses: a stream has the same cause as a JSON reply', async (t) => {
  const { say } = converse()
  t.is(await say('list files', { more: { stream: true } }), null)
  t.is(await say('delete a', { more: { stream: true } }), null)
  const lost = await say('delete b', { prompt: { date: '2027-01-01' }, more: { stream: true } })
  assertLoss(t, lost, 'system', `the system text changed at character ${DATE_AT}: a date`)
})

test.serial('prefix losses: an edited message is named by its place, and a compaction as one', async (t) => {
  const { say, turns } = converse()
  for (const text of ['one', 'two', 'three']) t.is(await say(`${text} ${'with some text '.repeat(400)}`), null)
  const edited: Turn[] = [[`other ${'text '.repeat(1500)}`, 'done'], ...turns.slice(1), ['four']]
  assertLoss(t, await say('', { turns: edited }), 'messages', 'messages[0] was edited (user, text)')
  const compacted = await say('', { turns: [['a summary of all']] })
  t.like(compacted, { reason: 'compaction', detail: '7 messages became 1: a compaction', tokens: 0, nanoUsd: 0 })
  t.is(await say('go on'), null)
})

test.serial('prefix losses: settings and betas that the provider renders into the prompt are named', async (t) => {
  const { say } = converse()
  const long = 'with some text '.repeat(400)
  t.is(await say(long), null)
  assertLoss(t, await say('a', { more: { tool_choice: { type: 'any' } } }), 'settings', 'tool_choice changed')
  const betas = { headers: { 'anthropic-beta': 'context-1m-2025-08-07' }, more: { tool_choice: { type: 'any' } } }
  assertLoss(t, await say('b', betas), 'beta', 'anthropic-beta changed: added context-1m-2025-08-07')
})

test.serial('prefix losses: marks that are missing, or too far from those of the turn before', async (t) => {
  const { say } = converse()
  t.is(await say('one'), null)
  const unmarked = await say('two', { prompt: { isMarked: false } })
  t.like(unmarked, { reason: 'marks', detail: 'no block has `cache_control` any more' })
  const never = converse()
  t.is(await never.say('one', { prompt: { isMarked: false } }), null)
  t.like(await never.say('two', { prompt: { isMarked: false } }), { reason: 'unmarked' })
})

test.serial('prefix losses: another key of the provider is named', async (t) => {
  const { say, refuseNext } = converse()
  t.is(await say('one'), null)
  refuseNext()
  assertLoss(t, await say('two'), 'key', /^another key of anthropic was used/)
  t.is(await say('three'), null)
})

test.serial('prefix losses: an expired cache is named with the pause', async (t) => {
  const { say } = converse()
  t.is(await say('one'), null)
  passedMs += 4 * 60_000
  t.is(await say('two'), null)
  passedMs += 7 * 60_000
  assertLoss(t, await say('three'), 'expired', 'first request after 7 min: the cache had expired (5 min)')
})

test.serial('prefix losses: a change that a plugin made is the plugin’s', async (t) => {
  const { say } = converse('messages', { pipe: 'cutter' })
  t.is(await say(`one ${'with some text '.repeat(400)}`), null)
  t.is(await say('two'), null)
  const lost = await say('three', { headers: { 'x-claude-code-cut': '1' } })
  t.like(lost, { reason: 'plugin', detail: 'plugin cutter: messages[0] was edited (user, text)' })
})

test.serial('prefix losses: a sub-agent and a request beside the conversation do not disturb it', async (t) => {
  const main = converse()
  t.is(await main.say('one'), null)
  const agent = converse('messages', { session: main.session })
  const headers = { 'x-claude-code-agent-id': 'explore-1' }
  const [own, ofAgent] = await Promise.all([main.say('two'), agent.say('search', { headers })])
  t.deepEqual([own, ofAgent], [null, null])
  t.is(await agent.say('search more', { headers }), null)
  const aside = { model: 'claude-haiku-4-5', max_tokens: 10, messages: [{ role: 'user', content: 'Name this: one' }] }
  const named = await main.post({ more: { ...aside, tools: undefined, system: 'Name the chat.' } }, [['x']])
  t.is(await lossOf(named), null)
  t.is(await main.say('three'), null)
  assertLoss(t, await main.say('four', { prompt: { date: '2026-12-24' } }), 'system', /a date$/)
})

test.serial('prefix losses: a provider that caches by itself, whose tokens come in steps', async (t) => {
  const reads = [0, 1920, 0, 0]
  const scenario = fixture.scenario({
    openai: (nth) => ({
      kind: 'answer',
      text: 'done',
      usage: {
        prompt_tokens: 2100 + nth,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: reads[nth - 1] ?? 0 },
      },
    }),
  })
  const say = async (prompt: Partial<Prompt>, ...turns: readonly Turn[]) => {
    const { tools: _, ...body } = bodyOf('chat', { ...USUAL, isMarked: false, ...prompt }, turns)
    return lossOf(await scenario.send({ path: PATHS.chat, body: { ...body, model: 'openai/gpt-4o' } }))
  }
  t.is(await say({}, ['one']), null)
  t.is(await say({}, ['one', 'done'], ['two']), null)
  const date = await say({ date: '2026-11-24' }, ['one', 'done'], ['two', 'done'], ['three'])
  t.like(date, { reason: 'system', detail: `the system text changed at character ${DATE_AT}: a date` })
  t.true(Number(date?.tokens) > 1900 && Number(date?.tokens) <= 2048, JSON.stringify(date))
  const unread = await say({ date: '2026-11-24' }, ['one', 'done'], ['two', 'done'], ['three', 'done'], ['four'])
  t.like(unread, { reason: 'unread', detail: 'openai did not read it: no change was found', tokens: 2048 })
})

test.serial('prefix losses: a reply from the exact cache is no turn of the provider', async (t) => {
  const { say, post, turns, cache } = converse('messages', { pipe: 'exact-cache' })
  t.is(await say('one'), null)
  const billed = cache.bills.length
  const repeated = await post({}, [[turns[0]?.[0] ?? '']])
  t.like(await rowOf(repeated), { cache: 'hit', lost: null })
  t.is(cache.bills.length, billed)
  t.is(await say('two'), null)
})

test.serial(
  'prefix losses: a conversation of which the turn before is not known reads nothing, and the reason is unknown',
  async (t) => {
    const { say } = converse()
    const lost = await say('', { turns: [['one', 'done'], ['two']] })
    t.like(lost, { reason: 'unknown', tokens: 0, nanoUsd: 0 })
  },
)

test.serial('prefix losses: a conversation that began too short for a cache is known when it grows', async (t) => {
  const { cache, say } = converse()
  t.is(await say('one', { prompt: { isMarked: false }, more: { system: 'Be brief.', tools: [] } }), null)
  t.is(await say('two'), null)
  t.true(Number(cache.bills.at(-1)?.cache_creation_input_tokens) > 1000)
  assertLoss(t, await say('three', { prompt: { date: '2026-11-24' } }), 'system', /changed at character/)
})

test.serial('prefix losses: a marked prompt that is too short for a cache is named, on its second turn', async (t) => {
  const { say } = converse()
  const more = { system: 'Be brief.', tools: [] }
  t.is(await say('one', { more }), null)
  const detail = /^the prompt of \d+ tokens is marked, and claude-sonnet-4-5 caches from 1024 tokens on$/
  const named = await say('two', { more })
  t.like(named, { reason: 'too_short', tokens: 0, nanoUsd: 0 })
  t.regex(String(named?.detail), detail)
})

test.serial('prefix losses: the overview and the metrics have the sums of all rows, by reason', async (t) => {
  const { url } = fixture.gateway
  const { json } = await send(url, { method: 'GET', path: '/dashboard/api/requests?limit=500' })
  const rows = (Array.isArray(valueAt(json, 'data')) ? valueAt(json, 'data') : []) as JsonObject[] // safe: of that route
  const sums = new Map<string, { requests: number; tokens: number; nanoUsd: number }>()
  for (const { lost } of rows) {
    if (!isJsonObject(lost)) continue
    const sum = sums.get(String(lost.reason)) ?? { requests: 0, tokens: 0, nanoUsd: 0 }
    sums.set(String(lost.reason), {
      requests: sum.requests + 1,
      tokens: sum.tokens + Number(lost.tokens),
      nanoUsd: sum.nanoUsd + Number(lost.nanoUsd),
    })
  }
  t.true(sums.size >= 8, [...sums.keys()].join(', '))
  const overview = await send(url, { method: 'GET', path: '/dashboard/api/overview?range=24h' })
  const losses = valueAt(overview.json, 'losses') as JsonObject[] // safe: of that route
  t.deepEqual(Object.fromEntries(losses.map(({ reason, ...sum }) => [reason, sum])), Object.fromEntries(sums))
  const { text } = await send(url, { method: 'GET', path: '/metrics' })
  for (const [reason, { nanoUsd, tokens }] of sums) {
    const value = (name: string) => Number(new RegExp(`^${name}\\{reason="${reason}"\\} (.+)$`, 'm').exec(text)?.[1])
    t.is(Math.round(value('turnpike_prompt_cache_lost_usd_total') * 1e9), nanoUsd, reason)
    t.is(value('turnpike_prompt_cache_lost_tokens_total'), tokens, reason)
  }
})
