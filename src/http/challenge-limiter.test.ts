import type { IncomingMessage } from 'node:http'
import test from 'ava'
import { GatewayError } from '../core/errors.ts'
import { memoryLimiter } from '../stores/limits/memory.ts'
import { placeOf, TollGate } from './challenge-limiter.ts'

const clock = { nowMs: () => 0 }
const limiter = (limit: number) => memoryLimiter({ limit, windowMs: 60_000 }, clock)
const from = (remoteAddress?: string) => ({ socket: { remoteAddress } }) as IncomingMessage // safe: only this is read

test('toll gate: an address of IPv6 counts as its network, one of IPv4 as itself', (t) => {
  t.is(placeOf('127.0.0.1'), '127.0.0.1')
  t.is(placeOf('::ffff:10.1.2.3'), '::ffff:10.1.2.3')
  t.is(placeOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2')
  t.is(placeOf('2001:db8::6'), '2001:db8:0:0')
  t.is(placeOf('2001:db8:1:2::'), '2001:db8:1:2')
  t.is(placeOf('fe80::1%eth0'), 'fe80:0:0:0')
  t.is(placeOf('::1'), '0:0:0:0')
  t.is(placeOf(undefined), 'unknown')
})

test('toll gate: an address has its share, a request counts once, and all together have theirs', async (t) => {
  const gate = new TollGate({ byAddress: limiter(2), overall: limiter(3), submits: undefined })
  const request = from('10.0.0.1')
  await gate.admit(request)
  await gate.admit(request)
  await gate.admit(from('10.0.0.1'))
  const error = await t.throwsAsync(gate.admit(from('10.0.0.1')), { instanceOf: GatewayError })
  t.is(error?.code, 'rate_limit_error')
  t.is(error?.headers['retry-after'], '30')
  // Who is refused by address takes nothing of what all have together.
  await gate.admit(from('10.0.0.2'))
  await t.throwsAsync(gate.admit(from('10.0.0.3')), { message: /at this gateway/ })
})

test('toll gate: a challenge can be presented only so often', async (t) => {
  const gate = new TollGate({ byAddress: undefined, overall: undefined, submits: limiter(2) })
  await gate.admitSubmit('a')
  await gate.admitSubmit('a')
  await t.throwsAsync(gate.admitSubmit('a'), { message: /of this challenge/ })
  await gate.admitSubmit('b')
  for (let i = 0; i < 10; i++) await gate.admit(from('10.0.0.1'))
  t.pass()
})
