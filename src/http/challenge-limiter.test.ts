import type { IncomingMessage } from 'node:http'
import test from 'ava'
import { GatewayError } from '../core/errors.ts'
import { memoryLimiter } from '../stores/limits/memory.ts'
import { ChallengeLimiter } from './challenge-limiter.ts'

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
