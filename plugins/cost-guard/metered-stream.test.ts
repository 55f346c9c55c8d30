import { setImmediate as nextTurn } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { RequestDocument } from 'turnpike/plugin'
import { type Ending, StreamReply } from 'turnpike/plugin/bytes'
import { costOf } from '../../src/core/money/estimate.ts'
import type { ByteSourceSink } from '../../src/core/reply/byte-source.ts'
import { createMemoryLedger } from '../../test/cost-guard/memory-ledger.ts'
import { parseEvents } from '../../test/support/events.ts'
import { type JsonObject, valueAt } from '../../test/support/json.ts'
import { toEvents, toSse } from '../../test/support/provider/message-events.ts'
import { checkEvents } from '../../test/support/stream-rules.ts'
import { type MeterEnd, meteredStream } from './metered-stream.ts'
import { RequestHolds } from './request-holds.ts'

const ESTIMATE = { inputNanoUsd: 10_000, outputTokenNanoUsd: 10, inputTokens: 100 }
const WINDOW = { scope: 'key:a', window: 'd:2026-11-21', period: 'day' as const }
const SLACK = 48

/** Plays a stream portion by portion, with a slow reader and a slower ledger as required. */
function play({
  capTokens,
  heldTokens = 100,
  inputNanoUsd = 3000,
  weigh = () => ESTIMATE,
  answer,
}: {
  weigh?: () => typeof ESTIMATE
  inputNanoUsd?: number
  capTokens: number
  heldTokens?: number
  answer?: () => Promise<void>
}) {
  const ledger = createMemoryLedger(answer)
  const windows = [{ ...WINDOW, limitNanoUsd: costOf(ESTIMATE, capTokens) }]
  const holds = new RequestHolds(ledger, 'hold', { budget: { perRequestNanoUsd: undefined, windows }, atMs: 0 })
  const hold = holds.money
  let source: ByteSourceSink | undefined
  const log = { isPaused: false, isCancelled: false }
  const origin = new StreamReply(
    { status: 200, headers: {} },
    {
      start: (sink) => {
        source = sink
      },
      pause: () => {
        log.isPaused = true
      },
      resume: () => {
        log.isPaused = false
      },
      cancel: () => {
        log.isCancelled = true
      },
    },
  )
  const ends: MeterEnd[] = []
  const endings: Ending[] = []
  const read: Buffer[] = []
  const inputOf = () => inputNanoUsd
  const request = new RequestDocument(Buffer.from('{}'))
  const reply = meteredStream(origin, {
    request,
    holds,
    estimate: ESTIMATE,
    weigh,
    inputOf,
    onEnd: (end) => ends.push(end),
  })
  const open = () =>
    reply.open({ write: (portion) => read.push(portion) > 0, end: (ending) => void endings.push(ending) })
  return {
    hold,
    log,
    reply,
    ends,
    endings,
    open,
    begin: () => hold.reserve(costOf(ESTIMATE, heldTokens)),
    send: (bytes: Buffer) => source?.data(bytes),
    end: () => source?.end(),
    text: () => Buffer.concat(read).toString(),
  }
}

const message = (text: string): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 30, output_tokens: 7 },
})
/** Events of a reply, one per portion. */
const portionsOf = (text: string) =>
  toSse(toEvents(message(text)))
    .toString()
    .split(/(?<=\n\n)/)
    .map((event) => Buffer.from(event))
const settle = async () => {
  for (let i = 0; i < 20; i++) await nextTurn()
}

test('meter: a stream within its hold passes unchanged', async (t) => {
  const stream = play({ capTokens: 1000 })
  await stream.begin()
  stream.open()
  for (const portion of portionsOf('a b')) stream.send(portion)
  stream.end()
  t.is(stream.text(), portionsOf('a b').join(''))
  t.like(stream.ends, [{ isCut: false, ending: { outcome: 'complete' } }])
  t.is(stream.hold.heldNanoUsd, costOf(ESTIMATE, 100))
})

test('meter: the provider’s input count replaces the estimate', async (t) => {
  const stream = play({ capTokens: 1000 })
  await stream.begin()
  stream.open()
  const [start = Buffer.alloc(0)] = portionsOf('a')
  stream.send(start)
  stream.reply.cancel()
  t.is(stream.ends[0]?.mostNanoUsd, 3000 + SLACK * 10)
})

test('meter: portions beyond the hold wait until it has grown', async (t) => {
  const gate = Promise.withResolvers<void>()
  let isSlow = false
  const stream = play({ capTokens: 5000, heldTokens: 60, answer: () => (isSlow ? gate.promise : Promise.resolve()) })
  await stream.begin()
  isSlow = true
  stream.open()
  const portions = portionsOf('word '.repeat(3000))
  for (const portion of portions.slice(0, 1200)) stream.send(portion)
  t.true(stream.log.isPaused)
  const before = stream.text().length
  await settle()
  t.is(stream.text().length, before)
  gate.resolve()
  await settle()
  t.is(stream.text(), portions.slice(0, 1200).join(''))
  t.false(stream.log.isPaused)
  t.true(stream.hold.heldNanoUsd >= (stream.ends[0]?.mostNanoUsd ?? 0))
})

const LIGHT = { ...ESTIMATE, inputNanoUsd: 1000 }

test('meter: an estimate by size is replaced by the weight before more is held', async (t) => {
  const stream = play({ capTokens: 5000, heldTokens: 60, weigh: () => LIGHT, inputNanoUsd: ESTIMATE.inputNanoUsd })
  await stream.begin()
  stream.open()
  // Without the provider’s count of the input, which comes with the first event.
  const portions = portionsOf('word '.repeat(800)).slice(1)
  for (const portion of portions.slice(0, 200)) stream.send(portion)
  await settle()
  t.is(stream.text(), portions.slice(0, 200).join(''))
  t.is(stream.hold.heldNanoUsd, costOf(ESTIMATE, 60), 'the hold covers the weight')
})

test('meter: a broken stream is charged by weight', async (t) => {
  const stream = play({ capTokens: 5000, weigh: () => LIGHT })
  await stream.begin()
  stream.open()
  for (const portion of portionsOf('a').slice(1, 2)) stream.send(portion)
  stream.reply.cancel()
  t.true((stream.ends[0]?.mostNanoUsd ?? 0) < costOf(LIGHT, 100))
})

test('meter: portions that arrive meanwhile are covered before it continues', async (t) => {
  const gate = Promise.withResolvers<void>()
  let isSlow = false
  const stream = play({ capTokens: 2500, heldTokens: 60, answer: () => (isSlow ? gate.promise : Promise.resolve()) })
  await stream.begin()
  isSlow = true
  stream.open()
  // The first 500 would fit; those behind them, which arrive while the ledger is busy, would not.
  for (const portion of portionsOf('word '.repeat(3000)).slice(0, 2900)) stream.send(portion)
  gate.resolve()
  await settle()
  t.true(stream.ends[0]?.isCut)
  t.notThrows(() => checkEvents(parseEvents(stream.text())))
})

test('meter: a reply that has ended is not cut', async (t) => {
  const stream = play({ capTokens: 70, heldTokens: 60 })
  await stream.begin()
  stream.open()
  for (const portion of portionsOf('word '.repeat(500))) stream.send(portion)
  await settle()
  stream.end()
  t.like(stream.ends, [{ isCut: false, ending: { outcome: 'complete' } }])
  t.is(stream.text(), portionsOf('word '.repeat(500)).join(''))
})

test('meter: a reply whose last token has arrived is not cut, though its stream continues', async (t) => {
  const stream = play({ capTokens: 70, heldTokens: 60 })
  await stream.begin()
  stream.open()
  const portions = portionsOf('word '.repeat(500))
  for (const portion of portions.slice(0, -1)) stream.send(portion)
  await settle()
  t.is(stream.ends.length, 0)
  for (const portion of portions.slice(-1)) stream.send(portion)
  stream.end()
  t.is(stream.text(), portions.join(''))
})

test('meter: a cut stream reports the tokens of its text, and not those that may be in flight', async (t) => {
  const stream = play({ capTokens: 100 })
  await stream.begin()
  stream.open()
  for (const portion of portionsOf('word '.repeat(400)).slice(0, -3)) stream.send(portion)
  await settle()
  t.like(stream.ends, [{ isCut: true }])
  const reported = parseEvents(stream.text()).find(({ event }) => event === 'message_delta')
  t.is(valueAt(reported?.data, 'usage.output_tokens'), (stream.ends[0]?.mostTokens ?? 0) - SLACK)
})

test('meter: a stream that breaks while it waits is reported as broken', async (t) => {
  const stream = play({ capTokens: 70, heldTokens: 60 })
  await stream.begin()
  stream.open()
  for (const portion of portionsOf('word '.repeat(500)).slice(0, 300)) stream.send(portion)
  stream.end()
  await settle()
  t.is(stream.endings[0]?.outcome, 'incomplete')
  t.truthy(stream.endings[0]?.error)
  t.false(stream.text().includes('message_stop'))
})

test('meter: a client that disconnects while the last portion waits is charged for the whole reply', async (t) => {
  const gate = Promise.withResolvers<void>()
  let isSlow = false
  const stream = play({ capTokens: 9000, heldTokens: 60, answer: () => (isSlow ? gate.promise : Promise.resolve()) })
  await stream.begin()
  isSlow = true
  stream.open()
  for (const portion of portionsOf('word '.repeat(500))) stream.send(portion)
  stream.end()
  stream.reply.cancel()
  t.like(stream.ends, [{ isCut: false, ending: { outcome: 'complete' } }])
  t.is(stream.ends.length, 1)
})

test('meter: an unopened stream ends when it is dropped', async (t) => {
  const stream = play({ capTokens: 100 })
  await stream.begin()
  stream.reply.cancel()
  t.like(stream.ends, [{ isCut: false, ending: { outcome: 'cancelled' } }])
})

interface Step {
  readonly kind: 'send' | 'turn' | 'end' | 'cancel' | 'pause' | 'resume'
  readonly count: number
}

/** Plays steps and checks the invariants after each. */
async function run(t: ExecutionContext, steps: readonly Step[], capTokens: number): Promise<MeterEnd | undefined> {
  const stream = play({
    capTokens,
    heldTokens: 60,
    inputNanoUsd: ESTIMATE.inputNanoUsd,
    answer: () => nextTurn(),
  })
  if ((await stream.begin()) !== undefined) return undefined
  stream.open()
  const portions = portionsOf('some words '.repeat(200))
  for (const { kind, count } of steps) {
    if (kind === 'send') for (const portion of portions.splice(0, count)) stream.send(portion)
    else if (kind === 'turn') await settle()
    else if (kind === 'end') stream.end()
    else if (kind === 'cancel') stream.reply.cancel()
    else if (kind === 'resume') stream.reply.resume()
    t.true(stream.ends.length <= 1 && stream.endings.length <= 2)
  }
  await settle()
  stream.reply.cancel()
  await settle()
  const [end] = stream.ends
  t.is(stream.ends.length, 1)
  t.true(stream.hold.heldNanoUsd <= costOf(ESTIMATE, capTokens))
  const whole = portionsOf('some words '.repeat(200)).join('')
  if (end?.isCut === true) {
    t.notThrows(() => checkEvents(parseEvents(stream.text())))
    t.true(stream.log.isCancelled)
  } else t.true(whole.startsWith(stream.text()))
  return end
}

test('meter: in any order of events it ends once, holds within the cap, and every cut stream is valid', async (t) => {
  const step = fc.record({
    kind: fc.constantFrom<Step['kind']>('send', 'send', 'send', 'turn', 'turn', 'end', 'cancel', 'resume'),
    count: fc.integer({ min: 1, max: 500 }),
  })
  let cuts = 0
  let wholes = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 14 }),
      fc.integer({ min: 60, max: 1300 }),
      async (steps, capTokens) => {
        const end = await run(t, steps, capTokens)
        if (end?.isCut === true) cuts++
        if (end?.ending.outcome === 'complete') wholes++
      },
    ),
    { numRuns: 400 },
  )
  t.log({ cuts, wholes })
  t.true(cuts > 10 && wholes > 0)
})
