import test from 'ava'
import fc from 'fast-check'
import type { Channel } from '../../src/core/ports/channel.ts'
import { EVERYBODY, type Scopes } from '../../src/core/telemetry/telemetry.ts'
import { type LiveBatch, LiveFeed } from '../../src/http/dashboard/live-feed.ts'
import { LivePages } from '../../src/http/dashboard/live-pages.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { sampleRequest } from '../support/telemetry.ts'

/** Creates a connection that is full on demand, and records its batches. */
function createSink() {
  const batches: LiveBatch[] = []
  const sink = {
    isFull: false,
    hasEnded: false,
    batches,
    write(batch: LiveBatch) {
      batches.push(batch)
      return !sink.isFull
    },
    end() {
      sink.hasEnded = true
    },
    ids: () => batches.flatMap(({ requests }) => requests.map(({ id }) => id)),
    dropped: () => batches.reduce((sum, { dropped }) => sum + dropped, 0),
  }
  return sink
}

/** Creates a feed whose pauses end on demand. */
function createFeed() {
  let waiting: (() => void)[] = []
  const feed = new LiveFeed((work) => void waiting.push(work))
  const turn = () => {
    const due = waiting
    waiting = []
    for (const work of due) work()
  }
  return { feed, turn }
}

test('live feed: a watcher gets the requests of its own scopes alone', (t) => {
  const { feed, turn } = createFeed()
  const [ada, ben] = [sampleRequest({ scope: 'ada' }), sampleRequest({ scope: 'ben' })]
  const watch = (scopes: Scopes) => {
    const sink = createSink()
    feed.watch({ scopes, sink })
    return sink
  }
  const sinks = [watch('ada'), watch(['ben', 'cay']), watch([]), watch(EVERYBODY)]
  feed.publish(ada)
  feed.publish(ben)
  turn()
  t.deepEqual(
    sinks.map((sink) => sink.ids()),
    [[ada.id], [ben.id], [], [ada.id, ben.id]],
  )
})

test('live feed: a watcher that comes back gets the requests of the meantime', (t) => {
  const { feed, turn } = createFeed()
  const requests = [sampleRequest(), sampleRequest(), sampleRequest()]
  for (const request of requests) feed.publish(request)
  const sink = createSink()
  feed.watch({ scopes: EVERYBODY, sink, lastId: requests[0]?.id })
  turn()
  t.deepEqual(
    sink.ids(),
    requests.slice(1).map(({ id }) => id),
  )
})

test('live feed: what a full connection cannot take is counted, and no request is sent twice or out of order', (t) => {
  const seen = { dropped: 0, whole: 0 }
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof({ weight: 1, arbitrary: fc.constantFrom('full', 'drain', 'turn') }, fc.integer({ min: 1, max: 40 })),
        {
          minLength: 4,
          maxLength: 20,
        },
      ),
      (steps) => {
        const { feed, turn } = createFeed()
        const sink = createSink()
        const watcher = feed.watch({ scopes: EVERYBODY, sink })
        const published: string[] = []
        for (const step of steps) {
          if (step === 'full') sink.isFull = true
          else if (step === 'turn') turn()
          else if (step === 'drain') {
            sink.isFull = false
            watcher.onDrain()
          } else
            for (let i = 0; i < Number(step); i++) {
              const request = sampleRequest()
              published.push(request.id)
              feed.publish(request)
            }
        }
        sink.isFull = false
        watcher.onDrain()
        turn()
        t.true(
          sink.batches.every(({ requests }) => requests.length <= 50),
          'a batch has a bound',
        )
        const ids = sink.ids()
        t.is(ids.length + sink.dropped(), published.length)
        t.deepEqual(
          ids,
          published.filter((id) => ids.includes(id)),
        )
        if (sink.dropped() > 0) seen.dropped++
        else seen.whole++
      },
    ),
    { numRuns: 60 },
  )
  t.true(seen.dropped > 5 && seen.whole > 5, JSON.stringify(seen))
})

test('live pages: there is room for a hundred, and all are ended', (t) => {
  const pages = new LivePages({ feed: new LiveFeed(), channel: undefined, log: createRecordingLog() })
  const sinks = Array.from({ length: 100 }, () => createSink())
  for (const sink of sinks) pages.watch({ scopes: EVERYBODY, sink })
  t.true(pages.isFull)
  pages.close()
  t.false(pages.isFull)
  t.true(sinks.every(({ hasEnded }) => hasEnded))
})

/** Creates processes with a channel between them that can fail, and whose pauses end on demand. */
function createProcesses(count: number) {
  const listeners = new Map<string, ((text: string) => void)[]>()
  const state = { isBroken: false, published: 0, waiting: [] as (() => void)[] }
  const channel: Channel = {
    async publish(topic, text) {
      state.published++
      if (state.isBroken) throw new Error('broken')
      const hearing = listeners.get(topic) ?? []
      for (const listener of hearing) listener(text)
      return hearing.length
    },
    subscribe: (topic, listener) => void listeners.set(topic, [...(listeners.get(topic) ?? []), listener]),
    async close() {},
  }
  const processes = Array.from({ length: count }, () => {
    const feed = new LiveFeed((work) => void state.waiting.push(work))
    return { feed, pages: new LivePages({ feed, channel, log: createRecordingLog() }) }
  })
  /** Resolves when all that is in-flight has arrived. */
  const settle = async () => {
    for (let i = 0; i < 8; i++) {
      for (const work of state.waiting.splice(0)) work()
      await new Promise(setImmediate)
    }
  }
  return { processes: processes as [(typeof processes)[0], ...typeof processes], state, settle }
}

test('live pages: nothing is published while there is no watcher', async (t) => {
  const { processes, state, settle } = createProcesses(2)
  const [here, there] = processes
  there?.feed.publish(sampleRequest())
  for (const { pages } of processes) pages.beat()
  await settle()
  t.is(state.published, 0)
  const sink = createSink()
  const watcher = here.pages.watch({ scopes: EVERYBODY, sink })
  await settle()
  there?.feed.publish(sampleRequest())
  await settle()
  t.is(sink.ids().length, 1)
  watcher.leave()
  await settle()
  const before = state.published
  there?.feed.publish(sampleRequest())
  for (const { pages } of processes) pages.beat()
  await settle()
  t.is(state.published, before)
})

test('live pages: a page of another process gets the requests of its own scopes alone, also when they change', async (t) => {
  const { processes, settle } = createProcesses(3)
  const [here, ...others] = processes
  const sink = createSink()
  const watcher = here.pages.watch({ scopes: ['ada'], sink })
  await settle()
  const publish = async () => {
    const requests = ['ada', 'ben'].map((scope) => sampleRequest({ scope }))
    for (const { feed } of others) for (const request of requests) feed.publish(request)
    await settle()
    return requests.map(({ id }) => id)
  }
  const [ada = ''] = await publish()
  t.deepEqual(sink.ids(), [ada, ada], 'one from each of the others')
  watcher.scopes = ['ben']
  here.pages.beat()
  await settle()
  const [, ben = ''] = await publish()
  t.deepEqual(sink.ids().slice(2), [ben, ben])
  t.is(sink.dropped(), 0)
})

test('live pages: a process that learns of a watcher late sends the requests that have ended since', async (t) => {
  const { processes, state, settle } = createProcesses(2)
  const [here, there] = processes
  there?.feed.publish(sampleRequest())
  const sink = createSink()
  state.isBroken = true
  here.pages.watch({ scopes: EVERYBODY, sink })
  await settle()
  const missed = sampleRequest()
  there?.feed.publish(missed)
  state.isBroken = false
  here.pages.beat()
  await settle()
  t.deepEqual(sink.ids(), [missed.id])
})

test('live pages: nothing is sent to a process that is silent', async (t) => {
  const { processes, state, settle } = createProcesses(2)
  const [here, there] = processes
  here.pages.watch({ scopes: EVERYBODY, sink: createSink() })
  await settle()
  for (let i = 0; i < 5; i++) there?.pages.beat()
  const before = state.published
  there?.feed.publish(sampleRequest())
  await settle()
  t.is(state.published, before)
})

test('live pages: a process that sends its heartbeats is watched on, and gets each request once', async (t) => {
  const { processes, settle } = createProcesses(2)
  const [here, there] = processes
  const sink = createSink()
  here.pages.watch({ scopes: EVERYBODY, sink })
  await settle()
  const requests = Array.from({ length: 12 }, () => sampleRequest())
  for (const request of requests) {
    there?.feed.publish(request)
    for (const { pages } of processes) pages.beat()
    await settle()
  }
  t.deepEqual(
    sink.ids(),
    requests.map(({ id }) => id),
  )
})

test('live pages: whatever breaks, each request of another process is sent once, or counted as dropped', async (t) => {
  const seen = { dropped: 0, whole: 0 }
  const step = fc.oneof(fc.constantFrom('break', 'mend', 'settle'), fc.integer({ min: 1, max: 70 }))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      const { processes, state, settle } = createProcesses(2)
      const [here, there] = processes
      const sink = createSink()
      here.pages.watch({ scopes: EVERYBODY, sink })
      await settle()
      const published: string[] = []
      for (const step of steps) {
        if (step === 'settle') await settle()
        else if (step === 'break' || step === 'mend') state.isBroken = step === 'break'
        else
          for (let i = 0; i < Number(step); i++) {
            const request = sampleRequest()
            published.push(request.id)
            there?.feed.publish(request)
          }
      }
      state.isBroken = false
      await settle()
      const ids = sink.ids()
      t.is(new Set(ids).size, ids.length)
      t.is(ids.length + sink.dropped(), published.length)
      seen[sink.dropped() > 0 ? 'dropped' : 'whole']++
    }),
    { numRuns: 60 },
  )
  t.true(seen.dropped > 5 && seen.whole > 5, JSON.stringify(seen))
})
