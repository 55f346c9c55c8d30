import test from 'ava'
import type { Clock, Log, ModelClient } from 'turnpike/plugin'
import { createRecordingLog } from '../../../test/support/recording-log.ts'
import { Judge } from './judge.ts'

/** Returns the words for yes and no of a prompt. */
const wordsOf = (system: string) => [...system.matchAll(/single word (\w+)/g)].map(([, word = '']) => word)

test('judge: a verdict costs all of its calls, also those before one that fails', async (t) => {
  const judge = async (replies: readonly ('yes' | 'no' | 'fail')[]) => {
    const left = [...replies]
    const models: ModelClient = {
      async ask(body) {
        const [yes, no] = wordsOf((body as { system: string }).system) // safe: the judge's own request
        const reply = left.shift()
        if (reply === 'fail') throw new Error('down')
        return { message: { content: [{ type: 'text', text: reply === 'yes' ? yes : no }] }, costNanoUsd: 7 }
      },
    }
    const clock: Clock = { nowMs: () => 0 }
    const log: Log = createRecordingLog()
    const judged = { newQuestion: 'a', oldQuestion: 'b' }
    return new Judge({ model: 'm', perDayUsd: 1, models, clock, log }).judge(judged, new AbortController().signal)
  }
  t.deepEqual(await judge(['no']), { verdict: 'other', costNanoUsd: 7 })
  t.deepEqual(await judge(['yes', 'no']), { verdict: 'same', costNanoUsd: 14 })
  t.deepEqual(await judge(['yes', 'yes']), { verdict: 'unclear', costNanoUsd: 14 })
  t.deepEqual(await judge(['yes', 'fail']), { verdict: 'failing', costNanoUsd: 7 })
})
