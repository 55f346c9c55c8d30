import test from 'ava'
import { Breaker } from './breaker.ts'

const PAUSE_MS = 1000

function open() {
  const state = { nowMs: 5 }
  const changes: string[] = []
  const clock = { nowMs: () => state.nowMs }
  const breaker = new Breaker({ failures: 3, pauseMs: PAUSE_MS, clock, onChange: (to) => changes.push(to) })
  const fail = (count: number) => {
    for (let i = 0; i < count; i++) breaker.fail()
  }
  return { state, changes, breaker, fail }
}

test('breaker: opens after failures in a row; a success between them begins the count anew', (t) => {
  const { breaker, changes, fail } = open()
  fail(2)
  breaker.succeed()
  fail(2)
  t.true(breaker.tryEnter())
  t.deepEqual(changes, [])
  fail(1)
  t.false(breaker.tryEnter())
  t.deepEqual(changes, ['opened'])
})

test('breaker: after the pause one call tries, and its success closes it', (t) => {
  const { breaker, changes, state, fail } = open()
  fail(3)
  state.nowMs += PAUSE_MS - 1
  t.false(breaker.tryEnter())
  state.nowMs++
  t.deepEqual([breaker.tryEnter(), breaker.tryEnter()], [true, false])
  breaker.succeed()
  t.deepEqual([breaker.tryEnter(), breaker.tryEnter()], [true, true])
  t.deepEqual(changes, ['opened', 'closed'])
  fail(2)
  t.true(breaker.tryEnter(), 'the failures from before do not count')
})

test('breaker: a failed trial begins another pause, without a second report', (t) => {
  const { breaker, changes, state, fail } = open()
  fail(3)
  state.nowMs += PAUSE_MS
  t.true(breaker.tryEnter())
  breaker.fail()
  t.false(breaker.tryEnter())
  state.nowMs += PAUSE_MS
  t.true(breaker.tryEnter())
  t.deepEqual(changes, ['opened'])
})
