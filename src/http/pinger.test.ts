import type { ServerResponse } from 'node:http'
import test from 'ava'
import { fakeTimers } from '../../test/support/fake-timers.ts'
import { Pinger } from './pinger.ts'

const rules = { text: 'PING', from: 'first', until: 'last', isLast: (_: string, data: string) => data === 'last' }

/** Opens a pinger of a second, and collects its pings. */
function open() {
  const state = { writableNeedDrain: false, isTorn: false }
  const pings: string[] = []
  const response = {
    get writableNeedDrain() {
      return state.writableNeedDrain
    },
    write: (text: string) => pings.push(text),
  } as unknown as ServerResponse // safe: nothing else is used
  const pinger = new Pinger(response, { rules, intervalMs: 1000, isTorn: () => state.isTorn })
  const event = (data: string) => pinger.see(`data: ${data}\n\n`)
  return { pinger, event, state, count: () => pings.length }
}

test.serial('pinger: pings each interval of silence, from the first event to the last', (t) => {
  const tick = fakeTimers(t)
  const { event, count } = open()
  tick(5000)
  t.is(count(), 0)
  event('first')
  tick(3000)
  t.is(count(), 3)
  event('last')
  tick(5000)
  t.is(count(), 3)
})

test.serial('pinger: an active stream gets no ping', (t) => {
  const tick = fakeTimers(t)
  const { event, count } = open()
  event('first')
  for (let i = 0; i < 10; i++) {
    tick(900)
    event('more')
  }
  t.is(count(), 0)
  tick(1000)
  t.is(count(), 1)
})

test.serial('pinger: writes nothing inside an event, to a full connection, and once stopped', (t) => {
  const tick = fakeTimers(t)
  for (const change of ['writableNeedDrain', 'isTorn'] as const) {
    const { pinger, event, state, count } = open()
    event('first')
    state[change] = true
    tick(3000)
    t.is(count(), 0, change)
    state[change] = false
    pinger.refresh()
    tick(1000)
    t.is(count(), 1, change)
    pinger.stop()
    tick(3000)
    t.is(count(), 1, change)
  }
})
