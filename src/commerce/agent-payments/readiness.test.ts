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

test('readiness: however many want to know, the payment provider is asked once in five minutes', async (t) => {
  const { readiness, time, asked } = setUp(async () => 'production_live')
  t.deepEqual(await Promise.all(Array.from({ length: 50 }, readiness)), Array(50).fill('production_live'))
  time.nowMs = 299_999
  await readiness()
  t.is(asked(), 1)
  time.nowMs = 300_000
  await Promise.all([readiness(), readiness()])
  t.is(asked(), 2)
})

test('readiness: while nobody answers nothing is promised, and what was last said holds', async (t) => {
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
