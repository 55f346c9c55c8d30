import test from 'ava'
import { createReadiness, type Readiness } from './readiness.ts'

function setUp(ask: () => Promise<Readiness>) {
  const time = { nowMs: 0 }
  let asked = 0
  const readiness = createReadiness({
    ask: () => {
      asked++
      return ask()
    },
    monotonicMs: () => time.nowMs,
  })
  return { readiness, time, asked: () => asked }
}

test('readiness: the payment provider is queried once in five minutes, for any number of callers', async (t) => {
  const { readiness, time, asked } = setUp(async () => 'production_live')
  t.deepEqual(await Promise.all(Array.from({ length: 50 }, readiness)), Array(50).fill('production_live'))
  time.nowMs = 299_999
  await readiness()
  t.is(asked(), 1)
  time.nowMs = 300_000
  await Promise.all([readiness(), readiness()])
  t.is(asked(), 2)
})

test('readiness: without a result the answer is negative, and during a failure the last result holds', async (t) => {
  let answer: () => Promise<Readiness> = async () => {
    throw new Error('down')
  }
  const { readiness, time, asked } = setUp(() => answer())
  t.is(await readiness(), 'not_configured')
  time.nowMs = 29_999
  t.is(await readiness(), 'not_configured')
  t.is(asked(), 1)
  answer = async () => 'test_mode'
  time.nowMs = 30_000
  t.is(await readiness(), 'test_mode')
  answer = async () => {
    throw new Error('down')
  }
  time.nowMs = 400_000
  t.is(await readiness(), 'test_mode')
  t.is(asked(), 3)
})
