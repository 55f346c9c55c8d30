import test, { type ExecutionContext } from 'ava'
import { eventually } from '../../../../test/support/eventually.ts'
import { createRecordingLog } from '../../../../test/support/recording-log.ts'
import { GatewayError } from '../../../core/errors.ts'
import type { RequestRow } from './rows.ts'
import { TelemetryWriter, type TelemetryWriterOptions } from './writer.ts'

const isDown = () => new GatewayError('service_unavailable', 'The database’s disk is full.')
const row = (name: number): RequestRow => [name]

/** A writer whose batches are kept; `before` may refuse one. */
function open(
  t: ExecutionContext,
  {
    before = async () => {},
    ...options
  }: Partial<TelemetryWriterOptions> & { before?: (batch: number) => Promise<void> } = {},
) {
  const log = createRecordingLog()
  const batches: number[][] = []
  let asked = 0
  const put = async (rows: readonly RequestRow[]) => {
    await before(++asked)
    batches.push(rows.map(([name]) => Number(name)))
  }
  const writer = new TelemetryWriter({ put, log, momentMs: 1, pauseMs: 1, ...options })
  t.teardown(() => writer.close(0))
  const add = (from: number, to: number) => {
    for (let i = from; i < to; i++) writer.add(row(i))
  }
  const dropped = () => log.lines.reduce((sum, { fields }) => sum + Number(fields.dropped), 0)
  return { writer, log, batches, add, dropped, asked: () => asked }
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

test('telemetry writer: what comes within a moment is one batch', async (t) => {
  const { batches, add } = open(t, { momentMs: 20 })
  add(0, 30)
  t.deepEqual(batches, [])
  await eventually(() => batches.length > 0, 'a batch')
  t.deepEqual(batches, [upTo(30)])
})

test('telemetry writer: a full batch does not wait, and none has more than 500', async (t) => {
  const { writer, batches, add } = open(t, { momentMs: 3_600_000 })
  add(0, 1200)
  await eventually(() => batches.length === 2, 'two full batches')
  await writer.close(10_000)
  t.deepEqual(
    batches.map(({ length }) => length),
    [500, 500, 200],
  )
  t.deepEqual(batches.flat(), upTo(1200))
})

test('telemetry writer: one batch is under way at a time', async (t) => {
  let running = 0
  let most = 0
  const before = async () => {
    most = Math.max(most, ++running)
    await new Promise(setImmediate)
    running--
  }
  const { batches, add } = open(t, { before })
  add(0, 2600)
  await eventually(() => batches.flat().length === 2600, 'all are stored')
  t.is(most, 1)
})

test('telemetry writer: a database that is down is asked again, and nothing is lost within the bound', async (t) => {
  const { batches, add, log, dropped, asked } = open(t, {
    before: async (nth) => {
      if (nth <= 3) throw isDown()
    },
  })
  add(0, 700)
  await eventually(() => batches.flat().length === 700, 'all are stored')
  t.deepEqual(batches.flat(), upTo(700))
  t.is(dropped(), 0)
  t.true(asked() >= 5)
  t.deepEqual(log.lines[0], {
    level: 'warn',
    event: 'telemetry.not-stored',
    fields: { dropped: 0, waiting: 700, reason: 'The database’s disk is full.' },
  })
  t.is(log.lines.length, 1, 'told once in a while only')
})

test('telemetry writer: what does not fit is dropped, the newest first, and counted', async (t) => {
  const { writer, batches, add, dropped } = open(t, { mostWaiting: 100, momentMs: 3_600_000 })
  add(0, 130)
  await writer.close(10_000)
  t.deepEqual(batches.flat(), upTo(100))
  t.is(dropped(), 30)
})

test('telemetry writer: a batch that is refused for ever is dropped alone', async (t) => {
  const { batches, add, dropped } = open(t, {
    before: async (nth) => {
      if (nth === 1) throw new GatewayError('internal_error', 'The database refused a command.')
    },
  })
  add(0, 501)
  await eventually(() => batches.length > 0, 'the next batch')
  t.deepEqual(batches.flat(), [500])
  t.is(dropped(), 0 + 500)
})

test('telemetry writer: the end does not wait for a database that is down or hangs', async (t) => {
  const down = open(t, { before: () => Promise.reject(isDown()), momentMs: 3_600_000 })
  down.add(0, 10)
  await down.writer.close(3_600_000)
  t.is(down.dropped(), 10)
  const hanging = open(t, { before: () => new Promise(() => {}), momentMs: 3_600_000 })
  hanging.add(0, 10)
  await hanging.writer.close(20)
  t.is(hanging.dropped(), 10)
  hanging.add(10, 11)
  t.is(hanging.dropped(), 11, 'what comes late is counted too')
})
