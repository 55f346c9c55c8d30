import test from 'ava'
import fc from 'fast-check'
import type { ByteSource, ByteSourceSink } from './byte-source.ts'
import { Flow, type FlowDriver, transformed } from './flow.ts'

/** Events of a flow, in any order. */
const step = fc.constantFrom('push', 'pause', 'resume', 'start', 'end', 'fail', 'cancel', 'push', 'push', 'resume')
/** Actions of a sink while it receives a portion. */
const reaction = fc.constantFrom('nothing', 'nothing', 'pause', 'resume', 'pause-and-resume', 'cancel')

/** A sink that checks the calls it receives. */
class Sink implements ByteSourceSink {
  received = ''
  endings = 0
  #isPaused = false
  isCancelled = false
  readonly #flow: ByteSource
  readonly #reactions: string[]

  constructor(flow: ByteSource, reactions: readonly string[]) {
    this.#flow = flow
    this.#reactions = [...reactions]
  }

  data(chunk: Buffer): void {
    if (this.#isPaused) throw new Error('data while paused')
    if (this.endings > 0 || this.isCancelled) throw new Error('data after the end')
    this.received += chunk.toString()
    this.act(this.#reactions.shift() ?? 'nothing')
  }

  end(): void {
    if (this.isCancelled) throw new Error('an end after cancel')
    this.endings++
  }

  fail(): void {
    this.end()
  }

  act(what: string): void {
    if (what.startsWith('pause')) {
      this.#isPaused = true
      this.#flow.pause()
    }
    if (what.endsWith('resume')) {
      this.#isPaused = false
      this.#flow.resume()
    }
    if (what === 'cancel') {
      this.isCancelled = true
      this.#flow.cancel()
    }
  }
}

test('flow: any order of pushes, pauses, endings and cancels keeps its guarantees', (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.array(reaction, { maxLength: 20 }), (steps, reactions) => {
      const driver = { starts: 0, cancels: 0, hasEnded: false }
      const flow: Flow = new Flow({
        start: () => void driver.starts++,
        resume() {},
        cancel() {
          if (driver.hasEnded) throw new Error('cancelled after its own end')
          driver.cancels++
        },
      })
      const sink = new Sink(flow, reactions)
      let hasStarted = false
      let pushed = ''
      for (const [index, what] of steps.entries()) {
        if (what === 'start') {
          if (!hasStarted) flow.start(sink)
          hasStarted = true
        } else if (what === 'push') {
          const text = String(index % 10)
          if (!driver.hasEnded) pushed += text
          flow.push(Buffer.from(text))
        } else if (what === 'end' || what === 'fail') {
          const wasOver = flow.hasEnded
          if (!wasOver) driver.hasEnded = true
          if (what === 'end') flow.end()
          else flow.fail(new Error('broken'))
        } else if (hasStarted) sink.act(what)
      }
      if (hasStarted && !sink.isCancelled) {
        sink.act('resume')
        // A reaction that is left may have paused it again.
        for (let i = 0; i <= reactions.length; i++) if (!sink.isCancelled) sink.act('resume')
      }
      t.true(pushed.startsWith(sink.received))
      t.true(driver.cancels <= 1 && driver.starts <= 1 && sink.endings <= 1)
      if (hasStarted && !sink.isCancelled) {
        t.is(sink.received, pushed)
        t.is(sink.endings, driver.hasEnded ? 1 : 0)
      }
    }),
    { numRuns: 3000 },
  )
})

test('flow: is started once', (t) => {
  const driver: FlowDriver = { start() {}, resume() {}, cancel() {} }
  const flow = new Flow(driver)
  const sink = { data() {}, end() {}, fail() {} }
  flow.start(sink)
  t.throws(() => flow.start(sink))
})

/** Creates a source that the test drives. */
function createSource() {
  const calls: string[] = []
  const source: ByteSource & { to?: ByteSourceSink } = {
    start(sink) {
      source.to = sink
      calls.push('start')
    },
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
    cancel: () => void calls.push('cancel'),
  }
  return { source, calls }
}

const collect = (flow: ByteSource) => {
  const received: string[] = []
  flow.start({
    data: (chunk) => void received.push(chunk.toString()),
    end: () => void received.push('end'),
    fail: ({ message }) => void received.push(`fail ${message}`),
  })
  return received
}

test('transformed: bytes, pauses and the end go through the transform', (t) => {
  const { source, calls } = createSource()
  const flow = transformed(source, {
    data: (chunk, to) => void to.push(Buffer.from(chunk.toString().toUpperCase())),
    end: (to) => void to.push(Buffer.from('!')),
    fail() {},
  })
  const received = collect(flow)
  source.to?.data(Buffer.from('a'))
  flow.pause()
  source.to?.data(Buffer.from('b'))
  t.deepEqual(received, ['A'])
  flow.resume()
  source.to?.end()
  t.deepEqual(received, ['A', 'B', '!', 'end'])
  t.deepEqual(calls, ['start', 'pause', 'resume'])
})

test('transformed: a transform that throws, or ends before its source, cancels it', (t) => {
  for (const [data, last] of [
    [
      () => {
        throw new Error('unreadable')
      },
      'fail unreadable',
    ],
    [(_chunk: Buffer, to: Pick<Flow, 'end'>) => to.end(), 'end'],
  ] as const) {
    const { source, calls } = createSource()
    const received = collect(transformed(source, { data, end() {}, fail() {} }))
    source.to?.data(Buffer.from('a'))
    source.to?.data(Buffer.from('b'))
    source.to?.fail(new Error('late'))
    t.deepEqual(received, [last])
    t.deepEqual(calls, ['start', 'cancel'])
  }
})

test('transformed: an ending of the transform’s own replaces the source’s', (t) => {
  const { source } = createSource()
  const flow = transformed(source, {
    data() {},
    end: (to) => to.fail(new Error('cut')),
    fail: (_error, to) => to.end(),
  })
  const received = collect(flow)
  source.to?.end()
  source.to?.end()
  t.deepEqual(received, ['fail cut'])
})
