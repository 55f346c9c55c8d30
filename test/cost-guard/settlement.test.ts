import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { createPluginDirectory, pluginSource } from '../support/plugin-folders.ts'
import { GPT_4O, openCostFixture, SONNET } from './cost-fixture.ts'

// Removed by the hook below: AVA wants all hooks and tests declared in one turn.
let removePlugins = () => {}
const teardown = (remove: () => void) => {
  removePlugins = remove
}
const plugins = createPluginDirectory(
  { teardown },
  {
    // Answers in the provider's place.
    'stub/index.js': pluginSource('stub', {
      run: `exchange.reply = jsonReply({ type: 'message', usage: { input_tokens: 9, output_tokens: 9 } })`,
    }),
    // Puts an answer of its own in the place of the provider's.
    'replace/index.js': pluginSource('replace', { run: `await next(); exchange.reply = jsonReply({ mine: true })` }),
  },
)
const cost = await openCostFixture({
  config: {
    plugins: { watch: false, dirs: [plugins.path] },
    providers: { tries: 1, forward_headers: ['x-claude-code-scenario'] },
    models: { dearer: ['house/qwen3-32b', 'anthropic/claude-sonnet-4-5'] },
  },
})
test.after.always(async () => {
  await cost.close()
  removePlugins()
})

const USAGE = {
  input_tokens: 11,
  output_tokens: 222,
  cache_read_input_tokens: 3333,
  cache_creation_input_tokens: 44,
  cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 4 },
}
const USAGE_NANO = 11 * 3000 + 222 * 15_000 + 3333 * 300 + 40 * 3750 + 4 * 6000
const CHAT_USAGE = { prompt_tokens: 100, completion_tokens: 50, prompt_tokens_details: { cached_tokens: 60 } }
const CHAT_NANO = 40 * GPT_4O.input + 60 * 1250 + 50 * GPT_4O.output

const exact: [claim: string, model: string, usage: 'anthropic' | 'openai'][] = [
  ['a Messages client of Claude', 'claude-sonnet-4-5', 'anthropic'],
  ['a Messages client of GPT', 'openai/gpt-4o', 'openai'],
  ['a chat client of GPT', 'gpt-4o', 'openai'],
  ['a chat client of Claude', 'claude-sonnet-4-5', 'anthropic'],
]
for (const [claim, model, provider] of exact) {
  for (const stream of [false, true]) {
    test(`settlement: ${claim}, ${stream ? 'SSE' : 'JSON'}, pays the price of the provider’s counts, once`, async (t) => {
      const scenario = cost.fixture.scenario({
        anthropic: { kind: 'answer', text: 'five words and no more', usage: USAGE },
        openai: { kind: 'answer', text: 'five words and no more', usage: CHAT_USAGE },
      })
      const dialect = claim.includes('chat') ? 'chat' : 'messages'
      const reply = await cost.ask(scenario, { as: t.title, stream, dialect, extra: { model } })
      t.is(reply.status, 200)
      const { settledNanoUsd, holds } = await cost.settled(t.title)
      t.is(settledNanoUsd, provider === 'anthropic' ? USAGE_NANO : CHAT_NANO)
      t.is(holds.length, 1)
    })
  }
}

test('settlement: several answers to one prompt are held and paid', async (t) => {
  const usage = { prompt_tokens: 10, completion_tokens: 240 }
  const scenario = cost.fixture.scenario({ openai: { kind: 'answer', usage } })
  const asking = { as: t.title, dialect: 'chat', extra: { n: 3, max_tokens: 100 } } as const
  await cost.ask(scenario, asking)
  const { holds } = await cost.settled(t.title)
  t.is(holds[0]?.costNanoUsd, 10 * GPT_4O.input + 240 * GPT_4O.output)
  t.true((holds[0]?.amountNanoUsd ?? 0) > 300 * GPT_4O.output)
})

for (const stream of [false, true]) {
  test(`settlement: a fallback to a dearer model stays within its hold (${stream ? 'SSE' : 'JSON'})`, async (t) => {
    const scenario = cost.fixture.scenario({
      house: { kind: 'error', status: 500 },
      anthropic: { kind: 'answer', usage: { input_tokens: 12, output_tokens: 100 } },
    })
    const reply = await cost.ask(scenario, { as: t.title, stream, extra: { model: 'dearer' } })
    t.is(reply.headers['x-svc-model'], 'anthropic/claude-sonnet-4-5')
    const { holds } = await cost.settled(t.title)
    t.is(holds[0]?.costNanoUsd, 12 * SONNET.input + 100 * SONNET.output)
    t.true((holds[0]?.amountNanoUsd ?? 0) >= 12 * SONNET.input + 100 * SONNET.output)
  })

  test(`settlement: an exact hit costs nothing (${stream ? 'SSE' : 'JSON'})`, async (t) => {
    const asking = { as: t.title, stream }
    const scenario = cost.fixture.scenario()
    await cost.ask(scenario, asking)
    const { settledNanoUsd } = await cost.settled(t.title)
    const again = await cost.ask(scenario, asking)
    t.is(again.headers['x-svc-cache'], 'hit')
    t.is((await cost.settled(t.title)).settledNanoUsd, settledNanoUsd)
  })

  test(`settlement: an answer that no provider gave costs nothing (${stream ? 'SSE' : 'JSON'})`, async (t) => {
    const pipe = 'cost-guard?per_day=1,stub'
    t.is((await cost.ask(cost.fixture.scenario(), { as: t.title, pipe, stream })).status, 200)
    const { holds } = await cost.settled(t.title)
    t.deepEqual(
      holds.map(({ costNanoUsd }) => costNanoUsd),
      [0],
    )
  })

  test(`settlement: a hold whose reply was not opened is settled (${stream ? 'SSE' : 'JSON'})`, async (t) => {
    const reply = await cost.ask(cost.fixture.scenario(), { as: t.title, pipe: 'replace,cost-guard?per_day=1', stream })
    t.is(valueAt(reply.json, 'mine'), true)
    const { holds } = await cost.settled(t.title)
    t.is(holds.length, 1)
    t.true((holds[0]?.costNanoUsd ?? 0) <= (holds[0]?.amountNanoUsd ?? 0))
  })

  for (const status of [400, 429, 500]) {
    test(`settlement: a provider’s ${status} costs nothing (${stream ? 'SSE' : 'JSON'})`, async (t) => {
      await cost.ask(cost.fixture.scenario({ anthropic: { kind: 'error', status } }), { as: t.title, stream })
      const { holds } = await cost.settled(t.title)
      t.deepEqual(
        holds.map(({ costNanoUsd }) => costNanoUsd),
        [0],
      )
    })
  }
}

test('settlement: JSON without counts may have cost all that is held', async (t) => {
  const body: JsonObject = { type: 'message', content: [] }
  await cost.ask(cost.fixture.scenario({ anthropic: { kind: 'reply', body } }), { as: t.title })
  const { holds } = await cost.settled(t.title)
  t.is(holds[0]?.costNanoUsd, holds[0]?.amountNanoUsd)
})

for (const stream of [false, true]) {
  test(`settlement: of a large request far from its caps, a reply without counts costs the weight (${stream ? 'SSE' : 'JSON'})`, async (t) => {
    const body: JsonObject = { type: 'message', content: [] }
    const bytes = 'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    const script = stream ? ({ kind: 'sse', bytes } as const) : ({ kind: 'reply', body } as const)
    const asking = { as: t.title, stream, prompt: 'Some words of a conversation. '.repeat(1000) }
    await cost.ask(cost.fixture.scenario({ anthropic: script }), { ...asking, guard: 'per_day=1000' })
    const [far] = (await cost.settled(t.title)).holds
    t.true((far?.amountNanoUsd ?? 0) > 30_000 * SONNET.input, 'the size is held')
    t.true((far?.costNanoUsd ?? 0) < 12_000 * SONNET.input, 'the weight is charged')
  })
}

test('settlement: a stream that breaks costs the received part', async (t) => {
  const text = 'some more words '.repeat(50)
  const script = { kind: 'answer', text, cutAfterBytes: 5000 } as const
  await cost.ask(cost.fixture.scenario({ anthropic: script }), {
    as: t.title,
    stream: true,
    extra: { max_tokens: 1000 },
  })
  const { holds } = await cost.settled(t.title)
  const [{ costNanoUsd = 0, amountNanoUsd = 0 } = {}] = holds
  t.true(costNanoUsd > 30 * SONNET.output && costNanoUsd <= amountNanoUsd)
})

// The stream of these words has some 13,000 bytes.
const OFFSETS = [1, 200, 450, 700, 1000, 1500, 2200, 3000, 4500, 6000, 8000, 10_000, 12_000]
test('abort: at any byte, the received part is paid, once and never beyond the hold', async (t) => {
  const text = 'words '.repeat(110)
  const costs = await Promise.all(
    OFFSETS.map(async (offset) => {
      const as = `${t.title} ${offset}`
      const between = (done: number) => (done === 1 ? { until: new Promise(() => {}) } : undefined)
      const script = { kind: 'answer', text, writes: { sizes: [offset], between } } as const
      const scenario = cost.fixture.scenario({ anthropic: script })
      const leaving = new AbortController()
      const sent = cost.ask(scenario, {
        as,
        stream: true,
        extra: { max_tokens: 500 },
        signal: leaving.signal,
        onChunk: () => leaving.abort(),
      })
      // Less than an event is not sent: then the client disconnects from a stream that has not begun.
      await cost.fixture.servers.anthropic.until(() => scenario.seen('anthropic').length === 1)
      if (offset < 450) leaving.abort()
      await sent
      const { holds } = await cost.settled(as)
      t.is(holds.length, 1)
      const [{ costNanoUsd = 0, amountNanoUsd = 0 } = {}] = holds
      t.true(costNanoUsd <= amountNanoUsd, `${offset}: ${costNanoUsd} of ${amountNanoUsd}`)
      return costNanoUsd
    }),
  )
  t.true(costs.every((nanoUsd) => nanoUsd >= SONNET.input))
  const later = costs.slice(4)
  t.deepEqual(
    later,
    later.toSorted((a, b) => a - b),
  )
  t.true((later.at(-1) ?? 0) > 100 * SONNET.output)
})

test('abort: a JSON reply that its client did not wait for is paid by the time it ran, not by its worst case', async (t) => {
  const scenario = cost.fixture.scenario({ anthropic: { kind: 'hang', at: 'before-headers' } })
  const leaving = new AbortController()
  // Half of the worst case is a minute's worth: a busy machine notices the client's leaving long before.
  const asking = { as: t.title, guard: 'per_day=1000', extra: { max_tokens: 60_000 }, signal: leaving.signal }
  const sent = cost.ask(scenario, asking)
  await cost.fixture.servers.anthropic.until(() => scenario.seen('anthropic').length === 1)
  leaving.abort()
  await sent
  const { holds } = await cost.settled(t.title)
  const [{ costNanoUsd = 0, amountNanoUsd = 0 } = {}] = holds
  t.true(costNanoUsd >= SONNET.input && costNanoUsd < amountNanoUsd / 2)
})

test('abort: a client that leaves before its request is admitted pays nothing it has not used', async (t) => {
  const leaving = new AbortController()
  const sent = cost.ask(cost.fixture.scenario(), { as: t.title, signal: leaving.signal })
  leaving.abort()
  await sent
  await eventually(() => cost.books(t.title).heldNanoUsd === 0, 'nothing is held')
  t.true(cost.books(t.title).settledNanoUsd < 0.001e9)
})
