import test, { type ExecutionContext } from 'ava'
import { cosineOf } from '../../../../test/support/cosine.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { createRecordingLog } from '../../../../test/support/recording-log.ts'
import {
  type EmbeddingScript,
  type EmbeddingsOptions,
  startEmbeddings,
} from '../../../../test/support/stand-in-embeddings.ts'
import { type Embedder, EmbedderFault } from '../../embedder.ts'
import { createRemoteEmbedder, type RemoteSettings } from './embedder.ts'

const NEVER = new AbortController().signal
const KEY = 'sk-embeddings-canary'
const LONG_MS = 60_000

interface Settings {
  readonly options?: Partial<RemoteSettings['options']>
  readonly budgetMs?: number
}

async function open(t: ExecutionContext, server: EmbeddingsOptions, settings: Settings = {}) {
  const standIn = await startEmbeddings(server)
  t.teardown(standIn.close)
  const time = { nowMs: 1000 }
  const log = createRecordingLog()
  const options = {
    url: standIn.endpoint,
    shape: server.shape ?? 'openai',
    model: 'words-1',
    api_key: KEY,
    dimensions: 30,
    ask_dimensions: true,
    ...settings.options,
  } as const
  const embedder = createRemoteEmbedder({
    options,
    budgetMs: settings.budgetMs ?? LONG_MS,
    clock: { nowMs: () => time.nowMs },
    log,
  })
  t.teardown(() => embedder.close?.())
  return { standIn, embedder, time, log }
}

async function reasonOf(embedder: Embedder, text: string): Promise<string> {
  try {
    await embedder.embed(text, NEVER)
    return 'none'
  } catch (error) {
    return error instanceof EmbedderFault ? error.reason : String(error)
  }
}

for (const shape of ['openai', 'voyage'] as const) {
  test(`remote: calls a strict ${shape} endpoint and normalises its vectors`, async (t) => {
    const { embedder, standIn } = await open(t, { shape, apiKey: KEY })
    t.is(embedder.dimensions, 32)
    const [ship, boat, tax] = await Promise.all(
      ['the red ship', 'the red boat', 'income tax'].map((text) => embedder.embed(text, NEVER)),
    )
    if (ship === undefined || boat === undefined || tax === undefined) return t.fail()
    t.is(ship.length, 32)
    t.true(Math.abs(cosineOf(ship, ship) - 1) < 0.02)
    t.true(cosineOf(ship, boat) > cosineOf(ship, tax))
    t.deepEqual(
      standIn.seen.map(({ refused }) => refused),
      [undefined, undefined, undefined],
    )
  })
}

test('remote: a model without `dimensions` gets none, and its vectors must have the configured length', async (t) => {
  const options = { ask_dimensions: false, dimensions: 1536 }
  const { embedder, standIn } = await open(t, {}, { options })
  t.is(await reasonOf(embedder, 'a ship'), 'none')
  t.false('dimensions' in (standIn.seen[0]?.json ?? {}))
})

test('remote: concurrent calls of a text are joined, later ones are not', async (t) => {
  const { embedder, standIn } = await open(t, { script: () => ({ kind: 'answer', afterMs: 20 }) })
  const vectors = await Promise.all([1, 2, 3].map(() => embedder.embed('the red ship', NEVER)))
  t.is(standIn.calls('the red ship'), 1)
  t.deepEqual(await embedder.embed('the red ship', NEVER), vectors[0])
  t.is(standIn.calls('the red ship'), 2)
  await embedder.embed('another ship', NEVER)
  t.is(standIn.calls('another ship'), 1)
})

function replyOf(embedding: readonly number[], filling: string): string {
  return JSON.stringify({ data: [{ index: 0, embedding }], filling })
}

const FLOATS = Array.from({ length: 30 }, (_, i) => i)
const FAULTS: [what: string, script: EmbeddingScript, reason: string][] = [
  ['status 500', { kind: 'status', status: 500 }, 'embedder-fault'],
  ['status 429', { kind: 'status', status: 429 }, 'embedder-fault'],
  ['a redirect', { kind: 'status', status: 302 }, 'embedder-fault'],
  ['a rejected text', { kind: 'status', status: 413 }, 'embedder-refused'],
  ['a reset connection', { kind: 'break' }, 'embedder-fault'],
  ['invalid JSON', { kind: 'body', body: '<html>' }, 'embedder-fault'],
  ['an empty list', { kind: 'body', body: '{"data":[]}' }, 'embedder-fault'],
  ['a reply that is far too long', { kind: 'body', body: replyOf(FLOATS, 'x'.repeat(5e6)) }, 'embedder-fault'],
  ['another index', { kind: 'answer', index: 1 }, 'embedder-fault'],
  ['other dimensions', { kind: 'answer', vector: FLOATS.slice(1) }, 'embedder-fault'],
  ['an invalid number', { kind: 'answer', vector: [...FLOATS.slice(1), null] }, 'embedder-fault'],
  ['no direction', { kind: 'answer', vector: FLOATS.map(() => 0) }, 'embedder-fault'],
]

for (const [what, script, reason] of FAULTS) {
  test(`remote: ${what} is ${reason}; the next text is requested again`, async (t) => {
    const { embedder } = await open(t, { script: (_, nth) => (nth === 1 ? script : undefined) })
    t.is(await reasonOf(embedder, 'a ship'), reason)
    t.is(await reasonOf(embedder, 'a ship'), 'none')
  })
}

test('remote: unknown members of a reply are ignored', async (t) => {
  const { embedder } = await open(t, { script: () => ({ kind: 'body', body: replyOf(FLOATS, 'short') }) })
  t.is(await reasonOf(embedder, 'a ship'), 'none')
})

test('remote: a wrong key is a fault, and no line of the log holds the key', async (t) => {
  const { embedder, log } = await open(t, { apiKey: 'another' })
  for (let i = 0; i < 3; i++) t.is(await reasonOf(embedder, 'a ship'), 'embedder-fault')
  t.deepEqual(log.lines, [{ level: 'warn', event: 'embedder.paused', fields: { fault: 'status 401' } }])
  t.false(JSON.stringify(log.lines).includes(KEY))
})

test('remote: a request waits no longer than the budget; the call goes on, and others join it', async (t) => {
  const { embedder, standIn } = await open(t, { script: () => ({ kind: 'hang' }) }, { budgetMs: 50 })
  for (let i = 0; i < 2; i++) t.is(await reasonOf(embedder, 'a ship'), 'embedder-late')
  // A busy machine may take longer than the budget until the call arrives.
  await eventually(() => standIn.calls('a ship') > 0, 'a call')
  t.is(standIn.calls('a ship'), 1)
})

test('remote: a hung endpoint delays requests up to the budget, and no call survives the gateway', async (t) => {
  const { embedder, standIn } = await open(t, { script: () => ({ kind: 'hang' }) }, { budgetMs: 20 })
  t.is(await reasonOf(embedder, 'a ship'), 'embedder-late')
  await standIn.until(() => standIn.pending() === 1)
  await embedder.close?.()
  await standIn.until(() => standIn.pending() === 0)
  t.pass()
})

test('remote: consecutive failures open the circuit breaker; then one trial call closes it or not', async (t) => {
  let isWell = false
  const { embedder, standIn, time, log } = await open(t, {
    script: () => (isWell ? { kind: 'answer', afterMs: 20 } : { kind: 'status', status: 500 }),
  })
  for (let i = 0; i < 3; i++) t.is(await reasonOf(embedder, `ship ${i}`), 'embedder-fault')
  t.is(await reasonOf(embedder, 'left alone'), 'embedder-gone')
  time.nowMs += 9999
  t.is(await reasonOf(embedder, 'left alone'), 'embedder-gone')
  time.nowMs += 1
  t.is(await reasonOf(embedder, 'tries'), 'embedder-fault')
  t.is(await reasonOf(embedder, 'left alone'), 'embedder-gone')
  time.nowMs += 10_000
  isWell = true
  const tried = reasonOf(embedder, 'tries again')
  t.is(await reasonOf(embedder, 'left alone'), 'embedder-gone')
  t.is(await tried, 'none')
  t.is(await reasonOf(embedder, 'left alone'), 'none')
  t.is(standIn.calls('left alone'), 1)
  t.deepEqual(log.events(), ['embedder.paused', 'embedder.resumed'])
})

test('remote: rejected texts never open the circuit breaker', async (t) => {
  const { embedder } = await open(t, {
    script: (text) => (text === 'bad' ? { kind: 'status', status: 400 } : undefined),
  })
  for (let i = 0; i < 5; i++) t.is(await reasonOf(embedder, 'bad'), 'embedder-refused')
  t.is(await reasonOf(embedder, 'good'), 'none')
})

test('remote: in-flight texts are bounded', async (t) => {
  const { embedder } = await open(t, { script: () => ({ kind: 'answer', afterMs: 5 }) })
  const reasons = await Promise.all(Array.from({ length: 130 }, (_, i) => reasonOf(embedder, `ship ${i}`)))
  t.is(reasons.filter((reason) => reason === 'embedder-busy').length, 2)
  t.is(reasons.filter((reason) => reason === 'none').length, 128)
})
