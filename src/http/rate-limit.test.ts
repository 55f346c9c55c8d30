import test from 'ava'
import type { RateDecision } from '../core/ports/rate-limit.ts'
import { limitRequests } from './rate-limit.ts'

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
