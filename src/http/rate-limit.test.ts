import type { IncomingMessage } from 'node:http'
import test from 'ava'
import { GatewayError } from '../core/errors.ts'
import type { RateDecision } from '../core/ports/rate-limit.ts'
import { memoryLimiter } from '../stores/limits/memory.ts'
import { ChallengeLimiter } from './challenge-limiter.ts'
import { clientSubnet } from './client-subnet.ts'
import { limitRequests } from './rate-limit.ts'
import { retryAfter } from './retry-after.ts'

const REFUSED: RateDecision = {
  isAllowed: false,
  limit: 8,
  windowMs: 60_000,
  remaining: 0,
  resetMs: 60_001,
  retryMs: 7400,
}

test('rate limit: seconds are rounded up, so that a client that waits for them is admitted', async (t) => {
  const requests = { take: () => REFUSED, close: async () => {} }
  const limits = { requests, requestsPerMinute: 8, failures: undefined }
  const refusal = await t.throwsAsync(limitRequests(limits, { scope: 'key:a' }))
  t.like(refusal, { code: 'rate_limit_error', headers: { 'retry-after': '8', ratelimit: '"key";r=0;t=61' } })
  t.regex(String(refusal?.message), /in 8 s\.$/)
})

test('client subnet: maps an IPv6 address to its /64 network and keeps an IPv4 address', (t) => {
  t.is(clientSubnet('127.0.0.1'), '127.0.0.1')
  t.is(clientSubnet('::ffff:10.1.2.3'), '::ffff:10.1.2.3')
  t.is(clientSubnet('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2')
  t.is(clientSubnet('2001:db8::6'), '2001:db8:0:0')
  t.is(clientSubnet('2001:db8:1:2::'), '2001:db8:1:2')
  t.is(clientSubnet('fe80::1%eth0'), 'fe80:0:0:0')
  t.is(clientSubnet('::1'), '0:0:0:0')
  t.is(clientSubnet(undefined), 'unknown')
})

const clock = { nowMs: () => 0 }
const limiter = (limit: number) => memoryLimiter({ limit, windowMs: 60_000 }, clock)
const from = (remoteAddress?: string) => ({ socket: { remoteAddress } }) as IncomingMessage // safe: only this is read

test('challenge limiter: limits each address and all together, and counts a request once', async (t) => {
  const challenges = new ChallengeLimiter({ byAddress: limiter(2), overall: limiter(3), submits: undefined })
  const request = from('10.0.0.1')
  await challenges.admit(request)
  await challenges.admit(request)
  await challenges.admit(from('10.0.0.1'))
  const error = await t.throwsAsync(challenges.admit(from('10.0.0.1')), { instanceOf: GatewayError })
  t.is(error?.code, 'rate_limit_error')
  t.is(error?.headers['retry-after'], '30')
  // A request refused by address does not count against the limit of all.
  await challenges.admit(from('10.0.0.2'))
  await t.throwsAsync(challenges.admit(from('10.0.0.3')), { message: /at this gateway/ })
})

test('challenge limiter: limits how often a challenge can be presented', async (t) => {
  const challenges = new ChallengeLimiter({ byAddress: undefined, overall: undefined, submits: limiter(2) })
  await challenges.admitSubmit('a')
  await challenges.admitSubmit('a')
  await t.throwsAsync(challenges.admitSubmit('a'), { message: /of this challenge/ })
  await challenges.admitSubmit('b')
  for (let i = 0; i < 10; i++) await challenges.admit(from('10.0.0.1'))
  t.pass()
})

test('retry-after: a client that waits as long as it names is admitted', (t) => {
  const waits = { 0: '0', 1: '1', 400: '1', 999: '1', 1000: '1', 1001: '2', 1400: '2', 59999: '60' }
  for (const [ms, text] of Object.entries(waits)) t.is(retryAfter(Number(ms)), text, ms)
  t.is(retryAfter(0.001), '1')
})
