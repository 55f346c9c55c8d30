import test from 'ava'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import { Disposal } from './disposal.ts'

test('disposal: parts are closed once, the last opened first', async (t) => {
  const disposal = new Disposal({ log: createRecordingLog(), partTimeoutMs: 60_000 })
  const closed: string[] = []
  for (const name of ['first', 'second', 'third'])
    disposal.add(name, async () => {
      await null
      closed.push(name)
    })
  await Promise.all([disposal.close(), disposal.close()])
  t.deepEqual(closed, ['third', 'second', 'first'])
})

test('disposal: parts that throw, reject or hang are logged, and all others are closed', async (t) => {
  const log = createRecordingLog()
  const disposal = new Disposal({ log, partTimeoutMs: 5 })
  const closed: string[] = []
  disposal.add('last', () => closed.push('last'))
  disposal.add('hangs', () => new Promise(() => {}))
  disposal.add('rejects', () => Promise.reject(new Error('no')))
  disposal.add('throws', () => {
    throw new Error('never')
  })
  await disposal.close()
  t.deepEqual(closed, ['last'])
  t.deepEqual(
    log.lines.map(({ fields }) => fields),
    [
      { part: 'throws', reason: 'never' },
      { part: 'rejects', reason: 'no' },
      { part: 'hangs', reason: 'not closed within 5 ms' },
    ],
  )
})

test('disposal: a subsystem has the time of each of its parts', async (t) => {
  const log = createRecordingLog()
  const outer = new Disposal({ log, partTimeoutMs: 5 })
  const inner = new Disposal({ log, partTimeoutMs: 5 })
  const closed: string[] = []
  outer.add('opened first', () => closed.push('opened first'))
  outer.nest(inner)
  for (const name of ['one', 'two']) inner.add(name, () => new Promise(() => {}))
  inner.add('three', () => closed.push('three'))
  await outer.close()
  t.deepEqual(closed, ['three', 'opened first'])
  t.deepEqual(
    log.lines.map(({ fields }) => fields),
    [
      { part: 'two', reason: 'not closed within 5 ms' },
      { part: 'one', reason: 'not closed within 5 ms' },
    ],
  )
})
