import test from 'ava'
import { openDatabase } from '../sqlite/open.ts'
import { lossesIn } from './losses.ts'

const DAY = { fromMs: 0, toMs: 86_400_000, stepMs: 3_600_000 }

for (const scopes of ['key-1', ['key-1', 'key-2'], { everybody: true }] as const)
  test(`losses: those of ${JSON.stringify(scopes)} are found by their own index`, async (t) => {
    const { raw, db } = await openDatabase(':memory:', 'telemetry')
    t.teardown(() => raw.close())
    const { sql, parameters } = lossesIn(db, { ...DAY, scopes }).compile()
    const plan = raw.prepare(`explain query plan ${sql}`).all(...(parameters as string[]))
    t.regex(String(plan[0]?.detail), /using index usage_request_lost/i)
  })
