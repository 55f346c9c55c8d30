import test from 'ava'
import { hasProcessFacts } from '../support/process-facts.ts'
import { loadSessions } from './conversations.ts'
import { printReport } from './report.ts'
import { soak } from './soak.ts'

const DAY_MS = 6000
/** Findings about the day's books, which are whole: the same traffic cannot show growth in six seconds. */
const BOOKS = /left|money|credits|calls|recorded|failed|alarms|paid/

const testWithFacts = hasProcessFacts ? test : test.skip

testWithFacts('soak: a short day leaves nothing open, its books are right, and old rows are gone', async (t) => {
  t.timeout(180_000)
  const sessions = loadSessions()
  if (sessions.absent !== undefined) t.log(sessions.absent)
  const report = await soak({ engine: 'sqlite', dayMs: DAY_MS, seed: 3, sessions, users: 6, judgesMemory: false })
  const { findings, series, tally, visits } = report
  const books = findings.filter(({ name }) => BOOKS.test(name))
  t.is(books.length, 12)
  t.deepEqual(
    books.filter(({ isFine }) => !isFine),
    [],
    printReport(report),
  )
  t.log({ ...tally.statuses, left: tally.left, hits: tally.hits }, visits)
  t.true(tally.complete > 0)
  t.true((visits['reloads of a plugin'] ?? 0) > 0)
  const names = series.map(({ name }) => name)
  for (const name of [
    'resident memory',
    'open files',
    'threads',
    'handles',
    'rows of usage_hour',
    'bytes of turnpike.db',
  ])
    t.true(names.includes(name), name)
  const receipts = series.find(({ name }) => name === 'rows of receipt')?.samples ?? []
  t.true((receipts.at(-1)?.value ?? 0) < tally.complete, 'receipts are deleted within the day')
  t.regex(printReport(report), /too short to tell/)
})
