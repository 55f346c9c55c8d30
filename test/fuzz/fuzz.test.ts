import test from 'ava'
import { drive } from './drive.ts'
import { FUZZERS } from './fuzzers.ts'

/** A taste of what `npm run drill:fuzz` does. */
const CASES = 60

for (const fuzzer of FUZZERS) {
  test(`fuzz: ${fuzzer.name} keeps its promises for its corpus and ${CASES} cases more`, async (t) => {
    const { failure, outcomes } = await drive(fuzzer, { cases: CASES, seed: 1 })
    t.is(failure, undefined)
    for (const outcome of fuzzer.outcomes) t.true(outcomes.has(outcome), `${outcome} among ${[...outcomes.keys()]}`)
  })
}
