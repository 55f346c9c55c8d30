import { existsSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { loadEdgeCases, loadTrajectories } from '../../eval/compression/data.ts'
import { failedEdgeCases } from '../../eval/compression/edge-cases.ts'
import { longSessions } from '../../eval/compression/long-sessions.ts'
import { type Policy, STAGE_A, STAGE_B } from '../../eval/compression/policies.ts'
import { replay } from '../../eval/compression/replay.ts'
import preserve from '../../plugins/preserve/index.ts'
import { isDrill } from '../support/drill.ts'
import { createPluginServices } from '../support/plugin-services.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { dataFolder } from '../support/recordings.ts'

const folder = path.join(dataFolder(), 'compression')
const hasData = existsSync(folder)
const ABSENT = `no sessions in ${folder}: skipped`

/** Returns all in the drill, and every eighth one in `npm test`. */
const sampledOf = <Session>(all: readonly Session[]) => all.filter((_, index) => isDrill || index % 8 === 0)

const options = preserve.options.parse({ tools: ['Read', 'get_*'], patterns: ['Error.*'], report: true })
/** One for all sessions: it keeps nothing of them, and has a thread. An hour passes between two looks at its budgets of CPU. */
let nowMs = 0
const clock = { nowMs: () => (nowMs += 3_600_000) }
const preserving = await preserve.setup(options, { ...createPluginServices(createRecordingLog()), clock })
test.after.always('end its thread', () => preserving.close?.())

const PRESERVED: Policy = {
  name: 'preserve,compress',
  createSteps: async () => [preserving.middleware(options), ...(await STAGE_A.createSteps())],
}

// One after the other: a replay holds the event loop, and a search whose result waits five seconds for its turn is given up.
for (const policy of [STAGE_A, PRESERVED]) {
  test.serial(`${policy.name}: real sessions keep every fact and break no cache, and no block grows`, async (t) => {
    if (!hasData) return t.pass(ABSENT)
    for (const session of sampledOf(loadTrajectories(folder))) {
      const { breaks, lostNeedles, largerBlocks } = await replay(session, policy.createSteps, 1)
      t.like({ breaks, lostNeedles, largerBlocks }, { breaks: 0, lostNeedles: [], largerBlocks: 0 }, session.id)
    }
  })
}

test.serial(
  'stage B: long sessions keep nearly every fact, and break the cache once in 20,000 tokens at most',
  async (t) => {
    if (!hasData) return t.pass(ABSENT)
    for (const session of sampledOf(longSessions(loadTrajectories(folder)))) {
      const { breaks, needles, lostNeedles, inputTokens, calls } = await replay(session, STAGE_B.createSteps, 1)
      t.true(breaks > 0 && breaks <= 5, session.id)
      t.true(lostNeedles.length <= needles * 0.01 || lostNeedles.length <= 1, session.id)
      t.true(inputTokens / calls < 45_000)
    }
  },
)

for (const policy of [STAGE_A, STAGE_B, PRESERVED]) {
  test.serial(`${policy.name}: edge cases keep what they must`, async (t) => {
    if (!hasData) return t.pass(ABSENT)
    t.deepEqual(await failedEdgeCases(loadEdgeCases(folder), policy), [])
  })
}
