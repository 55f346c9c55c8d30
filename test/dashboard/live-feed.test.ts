import test from 'ava'
import fc from 'fast-check'
import { EVERYBODY, type Scopes } from '../../src/core/telemetry.ts'
import { LiveFeed } from '../../src/http/dashboard/live-feed.ts'
import { sampleRequest } from '../support/telemetry.ts'

/** A connection that is full when it is told to be, and what was written to it. */
function createSink() {
  const texts: string[] = []
  const sink = {
    isFull: false,
    hasEnded: false,
    texts,
    write(text: string) {
      texts.push(text)
      return !sink.isFull
    },
    end() {
      sink.hasEnded = true
    },
    ids: () => [...texts.join('').matchAll(/^id: (.*)$/gm)].map(([, id]) => id ?? ''),
    dropped: () =>
      [...texts.join('').matchAll(/^event: dropped\ndata: (\d+)$/gm)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      ),
  }
  return sink
}

/** A feed whose pauses end when they are told to. */
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

test('live feed: a watcher is told of its own scopes alone', (t) => {
  const { feed, turn } = createFeed()
  const [ada, ben] = [sampleRequest({ scope: 'ada' }), sampleRequest({ scope: 'ben' })]
  const told = (scopes: Scopes) => {
    const sink = createSink()
    feed.watch(scopes, sink)
    return sink
  }
  const sinks = [told('ada'), told(['ben', 'cay']), told([]), told(EVERYBODY)]
  feed.publish(ada)
  feed.publish(ben)
  turn()
  t.deepEqual(
    sinks.map((sink) => sink.ids()),
    [[ada.id], [ben.id], [], [ada.id, ben.id]],
  )
})

test('live feed: who comes back is told what came meanwhile', (t) => {
  const { feed, turn } = createFeed()
  const requests = [sampleRequest(), sampleRequest(), sampleRequest()]
  for (const request of requests) feed.publish(request)
  const sink = createSink()
  feed.watch(EVERYBODY, sink, requests[0]?.id)
  turn()
  t.deepEqual(
    sink.ids(),
    requests.slice(1).map(({ id }) => id),
  )
})

test('live feed: what a full connection cannot take is counted, and no request is told twice or out of order', (t) => {
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
        const watcher = feed.watch(EVERYBODY, sink)
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
          sink.texts.every((text) => text.split('\nid: ').length <= 51),
          'a write has a bound',
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

test('live feed: it takes a hundred watchers, and ends them all', (t) => {
  const { feed } = createFeed()
  const sinks = Array.from({ length: 100 }, () => createSink())
  for (const sink of sinks) feed.watch(EVERYBODY, sink)
  t.true(feed.isFull)
  feed.close()
  t.false(feed.isFull)
  t.true(sinks.every(({ hasEnded }) => hasEnded))
})
