import { existsSync } from 'node:fs'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { loadCases } from './data.ts'
import { measureRanking } from './ranking.ts'
import { measureSessions } from './sessions.ts'
import { measureSingleTurns } from './single-turns.ts'

/*
 * Bars of pruning, on the available part of the data. They hold on data without tuning; a change of words, weights or
 * rules that breaks one is no improvement.
 */

const ROOT = path.resolve(import.meta.dirname, '../..')
const folder = path.resolve(ROOT, process.env.TURNPIKE_DATA ?? '../shared/data', 'pruning')
const cases = existsSync(folder) ? loadCases(folder, undefined) : undefined
/** Every nth case is enough here for what is slow; the command measures all. */
const every = (n: number) => cases?.filter((_, i) => i % n === 0) ?? []

function bars(title: string, check: (t: ExecutionContext) => void | Promise<void>): void {
  test(title, (t) => {
    if (cases !== undefined) return check(t)
    t.log(`no data in ${folder}`)
    t.pass()
  })
}

bars('pruning: the nearest 20 of 100 tools include the needed ones', (t) => {
  const rows = measureRanking(cases ?? [], [100])
  const recall = (set: string) => Number(rows.find(({ group }) => group === `${set}, 100 tools`)?.['recall@20 %'])
  t.true(recall('all') >= 92, `${recall('all')}`)
  t.true(recall('livemcp') >= 80, `${recall('livemcp')}`)
})

bars('pruning: slim loses no tool and saves 40 %, drop loses few and saves 45 %', async (t) => {
  const rows = await measureSingleTurns(every(16))
  const row = (group: string) => rows.find((each) => each.group === group) ?? {}
  for (const set of ['bfcl_live', 'livemcp']) {
    t.is(row(`slim: ${set}`)['present %'], 100)
    t.true(Number(row(`slim: ${set}`)['saved %']) >= 40, JSON.stringify(row(`slim: ${set}`)))
  }
  t.true(Number(row('drop: livemcp')['present %']) >= 95, JSON.stringify(row('drop: livemcp')))
  t.true(Number(row('drop: livemcp')['saved %']) >= 45, JSON.stringify(row('drop: livemcp')))
})

bars('pruning: whole sessions have the tools that they need, and the prompt cache keeps hitting', async (t) => {
  for (const row of await measureSessions(every(4))) {
    const group = String(row.group)
    t.true(Number(row['complete %']) >= (group.endsWith('tau_airline') || group.startsWith('slim') ? 100 : 92), group)
    t.true(Number(row['tool tokens saved %']) >= 40, group)
    t.true(Number(row['list changes a session']) <= (group.startsWith('slim') ? 0 : 0.3), group)
    t.is(row['breaks a session'], row['list changes a session'])
  }
})
