import test from 'ava'
import { openLimiter } from '../../src/stores/limits/open.ts'
import { createRecordingLog } from '../support/recording-log.ts'

const HOUR_MS = 3_600_000

test.serial('limits: a clock that is set back by an hour locks no caller out', async (t) => {
  const limiter = await openLimiter(
    { limit: 2, windowMs: 200 },
    { redisUrl: undefined, namespace: 'test', log: createRecordingLog() },
  )
  const rightNow = Date.now
  t.teardown(() => {
    Date.now = rightNow
  })
  t.true((await limiter.take('k')).isAllowed)
  Date.now = () => rightNow() - HOUR_MS
  t.true((await limiter.take('k')).isAllowed)
  const { isAllowed, retryMs } = await limiter.take('k')
  t.false(isAllowed)
  t.true(retryMs <= 200, `${retryMs}`)
})
