import test from 'ava'
import { dataFolder } from '../../test/support/recordings.ts'
import { measureLoops, measureOrdinary, PARTS } from './measure.ts'
import { measureRecorded } from './recorded.ts'

/** As many as `npm run eval:loops` measures. */
const SESSIONS = 100

for (const part of PARTS) {
  test(`loops: nearly all generated loops are found by their third repetition (${part.name})`, (t) => {
    const found = measureLoops(part, SESSIONS)
    const missed = found.flatMap(({ kind, missed }) => missed.map((id) => `${kind} ${id}`))
    t.true(missed.length <= 0.05 * SESSIONS, missed.join('\n'))
    t.true(found.every(({ early }) => early === 0))
  })

  test(`loops: no turn of ordinary work that resembles a loop is one (${part.name})`, (t) => {
    t.deepEqual(
      measureOrdinary(part, SESSIONS).flatMap(({ alarms }) => alarms),
      [],
    )
  })
}

test('loops: no turn of the recorded ordinary sessions is one, and the three that repeat themselves are found', (t) => {
  const figures = measureRecorded(dataFolder())
  if (figures === undefined) {
    t.log(`no data in ${dataFolder()}`)
    t.pass()
    return
  }
  t.deepEqual(figures.alarms, [])
  t.deepEqual(figures.missed, [])
  t.true(figures.turns > 300, `${figures.turns} turns`)
})
