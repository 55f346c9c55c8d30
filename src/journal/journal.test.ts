import test from 'ava'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import { Journal } from './journal.ts'

/** Opens a journal, and a function that adds work which records its name. */
function open() {
  const log = createRecordingLog()
  const journal = new Journal(log)
  const done: (string | number)[] = []
  return {
    journal,
    log,
    done,
    add: (name: string | number, bytes?: number) => journal.add(() => done.push(name), bytes),
  }
}

test('journal: work waits for others, and runs in its order', async (t) => {
  const { add, done } = open()
  add('log line of a')
  add('receipt of a', 100)
  add('log line of b')
  t.deepEqual(done, [])
  await new Promise((resolve) => setTimeout(resolve, 60))
  t.deepEqual(done, ['log line of a', 'receipt of a', 'log line of b'])
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('journal: a full batch runs in the next turn of the loop, and the next piece waits again', async (t) => {
  const { add, done, journal } = open()
  for (let i = 0; i < 99; i++) add(i)
  await turn()
  t.deepEqual(done, [])
  add(99)
  t.deepEqual(done, [], 'not inside the request that fills it')
  await turn()
  t.is(done.length, 100)
  add(100)
  await turn()
  t.is(done.length, 100)
  journal.close()
})

test('journal: large bodies fill a batch, and sizes count from its start', async (t) => {
  const { add, done, journal } = open()
  add('a', 3 * 1024 ** 2)
  await turn()
  t.deepEqual(done, [])
  add('b', 1024 ** 2)
  await turn()
  t.deepEqual(done, ['a', 'b'])
  add('c', 1)
  await turn()
  t.is(done.length, 2)
  journal.close()
})

test('journal: however much one turn adds, little waits', (t) => {
  const { add, done, journal } = open()
  for (let i = 0; i < 1000; i++) add(i)
  t.is(done.length, 800)
  add('large', 16 * 1024 ** 2)
  t.is(done.length, 1001)
  journal.close()
})

test('journal: work that the end adds runs after the work before it', (t) => {
  const { journal, add, done } = open()
  journal.add(() => add('inner'))
  add('before')
  journal.close()
  add('after')
  t.deepEqual(done, ['before', 'inner', 'after'])
})

test('journal: work that is added by work is in the next batch', (t) => {
  const { journal, done, add } = open()
  journal.add(() => add('inner'))
  journal.flush()
  t.deepEqual(done, [])
  journal.flush()
  t.deepEqual(done, ['inner'])
})

test('journal: after its end work runs at once', (t) => {
  const { journal, add, done } = open()
  add('before')
  journal.close()
  t.deepEqual(done, ['before'])
  add('after')
  t.deepEqual(done, ['before', 'after'])
})

test('journal: work that throws is logged, and takes no other along', (t) => {
  const { journal, log, add, done } = open()
  add('first')
  journal.add(() => {
    throw new Error('of an observer')
  })
  add('last')
  journal.flush()
  t.deepEqual(done, ['first', 'last'])
  t.like(log.lines.at(-1), { event: 'journal.work-failed' })
})
