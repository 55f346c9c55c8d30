import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import fc from 'fast-check'
import { type Ending, StreamReply } from 'turnpike/plugin/bytes'
import type { ByteSource, ByteSourceSink } from '../../src/core/reply/byte-source.ts'
import { Broadcast, type Whole } from './broadcast.ts'

const COMPLETE: Ending = { outcome: 'complete', usage: undefined }
const AMPLE_BYTES = 1_000_000

/** Origin that the test drives by hand. */
class Origin implements ByteSource {
  sink: ByteSourceSink | undefined
  isPaused = true
  isCancelled = false

  start(sink: ByteSourceSink): void {
    this.sink = sink
    this.isPaused = false
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  cancel(): void {
    this.isCancelled = true
  }
}

/** Client of a broadcast that can stop reading. */
class Client {
  readonly #reply: StreamReply
  received = ''
  receivedBytes = 0
  ending: Ending | undefined
  isReading = true

  constructor(broadcast: Broadcast) {
    this.#reply = broadcast.read()
    this.#reply.open({
      write: (portion) => {
        this.received += portion.toString('latin1')
        this.receivedBytes += portion.length
        return this.isReading
      },
      end: (ending) => {
        this.ending = ending
      },
    })
  }

  resume(): void {
    this.isReading = true
    this.#reply.resume()
  }

  leave(): void {
    this.#reply.cancel()
  }
}

function broadcastOf(origin: Origin, limitBytes: number) {
  const head = { status: 200, headers: { 'content-type': 'text/event-stream' }, isWhole: true }
  const broadcast = new Broadcast(new StreamReply(head, origin), limitBytes)
  return { broadcast, whole: broadcast.start() }
}

/** Returns the text of a complete stream, else its kind of end. */
function textOf(whole: Whole): string {
  return whole.kind === 'complete' ? whole.bytes.toString('latin1') : whole.kind
}

type Step = { kind: 'emit'; size: number } | { kind: 'join' } | { kind: 'stop' | 'resume' | 'leave'; client: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('emit' as const), size: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('join' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('stop', 'resume', 'leave'), client: fc.nat(5) }) },
)
const LARGEST_PORTION_BYTES = 40

/** Plays random steps and checks the invariants after each. */
class Play {
  readonly origin = new Origin()
  readonly limitBytes: number
  readonly broadcast: Broadcast
  readonly whole: ReturnType<Broadcast['start']>
  readonly present: Client[] = []
  emitted = ''

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes
    const { broadcast, whole } = broadcastOf(this.origin, limitBytes)
    this.broadcast = broadcast
    this.whole = whole
  }

  take(given: Step): void {
    if (given.kind === 'emit') this.emit(given.size)
    else if (given.kind === 'join') this.#join()
    else this.#act(given.kind, given.client)
    this.#check()
  }

  emit(size: number): void {
    if (this.origin.isPaused) return
    const portion = Array.from({ length: size }, (_, i) =>
      String.fromCharCode(33 + ((this.emitted.length + i) % 90)),
    ).join('')
    this.emitted += portion
    this.origin.sink?.data(Buffer.from(portion))
    if (this.origin.isPaused !== this.#mustPause()) throw new Error(`paused: ${this.origin.isPaused}`)
  }

  #join(): void {
    if (this.broadcast.isOpen) this.present.push(new Client(this.broadcast))
  }

  #act(kind: 'stop' | 'resume' | 'leave', nth: number): void {
    const index = nth % Math.max(1, this.present.length)
    const client = this.present[index]
    if (client === undefined) return
    if (kind === 'stop') client.isReading = false
    if (kind === 'resume') client.resume()
    if (kind === 'leave') {
      this.present.splice(index, 1)
      client.leave()
    }
    if (kind !== 'stop' && !this.#mustPause() && this.origin.isPaused) throw new Error('is paused without a reason')
  }

  /** Tests for a required pause. A client that stopped takes one more portion before its stream notices. */
  #mustPause(): boolean {
    if (this.present.length === 0) return false
    const isStopped = ({ isReading }: Client) => !isReading
    return this.broadcast.isOpen ? this.present.every(isStopped) : this.present.some(isStopped)
  }

  #check(): void {
    for (const { received, ending } of this.present) {
      if (!this.emitted.startsWith(received)) throw new Error('not what the origin sent')
      if (ending !== undefined) throw new Error('ended early')
    }
    const slowest = Math.min(this.emitted.length, ...this.present.map(({ receivedBytes }) => receivedBytes))
    const held = this.broadcast.isOpen ? this.emitted.length : this.emitted.length - slowest
    if (held > this.limitBytes + LARGEST_PORTION_BYTES) throw new Error(`holds ${held} bytes`)
  }
}

const steps = fc.array(step, { maxLength: 60 })

for (const [claim, limitBytes] of [
  ['within the limit', AMPLE_BYTES],
  ['beyond the limit', 100],
] as const) {
  test(`broadcast: readers that join, stop and leave at any time get the origin's bytes from the first on, ${claim}`, async (t) => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const play = new Play(limitBytes)
        for (const given of list) play.take(given)
        for (const client of play.present) client.resume()
        play.emit(7)
        play.origin.sink?.end(COMPLETE)
        for (const { received, ending } of play.present) {
          t.is(received, play.emitted)
          t.is(ending?.outcome, 'complete')
        }
        t.is(textOf(await play.whole), play.emitted.length > limitBytes ? 'too-long' : play.emitted)
      }),
      { numRuns: 400 },
    )
  })
}

test('broadcast: is open exactly up to its limit', (t) => {
  const origin = new Origin()
  const { broadcast } = broadcastOf(origin, 10)
  origin.sink?.data(Buffer.alloc(10))
  t.true(broadcast.isOpen)
  origin.sink?.data(Buffer.alloc(1))
  t.false(broadcast.isOpen)
})

test('broadcast: releases what all have read, once it is beyond its limit', async (t) => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const origin = new Origin()
  const { broadcast } = broadcastOf(origin, 100)
  new Client(broadcast)
  let first: Buffer | undefined = Buffer.alloc(90)
  const trace = new WeakRef(first)
  origin.sink?.data(first)
  first = undefined
  await nextTurn() // a WeakRef holds its target until the event-loop turn ends
  collectGarbage()
  t.truthy(trace.deref())
  origin.sink?.data(Buffer.alloc(90))
  await nextTurn()
  collectGarbage()
  t.is(trace.deref(), undefined)
  t.false(broadcast.isOpen)
})

test('broadcast: beyond its limit the slowest reader sets the pace', (t) => {
  const origin = new Origin()
  const { broadcast } = broadcastOf(origin, 10)
  const [slow, quick] = [new Client(broadcast), new Client(broadcast)]
  slow.isReading = false
  origin.sink?.data(Buffer.alloc(20))
  t.true(origin.isPaused)
  quick.resume()
  t.true(origin.isPaused)
  slow.resume()
  t.false(origin.isPaused)
})

test('broadcast: beyond its limit, the others continue when the slowest reader leaves', (t) => {
  const origin = new Origin()
  const { broadcast } = broadcastOf(origin, 10)
  const [slow, quick] = [new Client(broadcast), new Client(broadcast)]
  slow.isReading = false
  origin.sink?.data(Buffer.alloc(20))
  slow.leave()
  t.false(origin.isPaused)
  origin.sink?.data(Buffer.alloc(20))
  t.is(quick.receivedBytes, 40)
})

test('broadcast: continues without readers', async (t) => {
  const origin = new Origin()
  const { broadcast, whole } = broadcastOf(origin, 100)
  new Client(broadcast).leave()
  origin.sink?.data(Buffer.from('abc'))
  t.false(origin.isPaused)
  origin.sink?.end(COMPLETE)
  t.is(textOf(await whole), 'abc')
})

test('broadcast: a waiter for the whole keeps it going past a stopped reader', async (t) => {
  const origin = new Origin()
  const { broadcast } = broadcastOf(origin, 100)
  const slow = new Client(broadcast)
  slow.isReading = false
  origin.sink?.data(Buffer.from('abc'))
  t.true(origin.isPaused)
  const waiting = broadcast.whole()
  t.false(origin.isPaused)
  origin.sink?.data(Buffer.from('def'))
  t.false(origin.isPaused)
  origin.sink?.end(COMPLETE)
  t.is(textOf(await waiting), 'abcdef')
})

test('broadcast: a waiter for the whole is notified at once that there will be none', async (t) => {
  const origin = new Origin()
  const { broadcast } = broadcastOf(origin, 10)
  const waiting = broadcast.whole()
  origin.sink?.data(Buffer.alloc(20))
  t.is(textOf(await waiting), 'too-long')
})

test('broadcast: a reader that joins after the end gets all, and the end', (t) => {
  const origin = new Origin()
  const { broadcast } = broadcastOf(origin, 100)
  origin.sink?.data(Buffer.from('abc'))
  origin.sink?.end(COMPLETE)
  t.like(new Client(broadcast), { received: 'abc', ending: COMPLETE })
})

test('broadcast: a reader that stopped gets the end only after it has read everything', (t) => {
  const origin = new Origin()
  const { broadcast } = broadcastOf(origin, 100)
  const client = new Client(broadcast)
  client.isReading = false
  for (const text of ['a', 'b', 'c']) origin.sink?.data(Buffer.from(text))
  origin.sink?.end(COMPLETE)
  t.like(client, { received: 'a', ending: undefined })
  client.resume()
  t.like(client, { received: 'abc', ending: COMPLETE })
})

test('broadcast: all readers get a break after the bytes received', async (t) => {
  const origin = new Origin()
  const { broadcast, whole } = broadcastOf(origin, 100)
  const clients = [new Client(broadcast), new Client(broadcast)]
  origin.sink?.data(Buffer.from('abc'))
  origin.sink?.fail(new Error('reset'))
  for (const { received, ending } of [...clients, new Client(broadcast)]) {
    t.is(received, 'abc')
    t.is(ending?.error?.message, 'reset')
  }
  t.is(textOf(await whole), 'broken')
})

test('broadcast: cancelling stops the origin and ends all readers', async (t) => {
  const origin = new Origin()
  const { broadcast, whole } = broadcastOf(origin, 100)
  const client = new Client(broadcast)
  broadcast.cancel()
  t.true(origin.isCancelled)
  t.is(client.ending?.outcome, 'cancelled')
  t.is(textOf(await whole), 'broken')
})

test('broadcast: one reader that leaves does not stop the origin', (t) => {
  const origin = new Origin()
  const { broadcast } = broadcastOf(origin, 100)
  new Client(broadcast).leave()
  t.false(origin.isCancelled)
})
