import test from 'ava'
import { stateOf } from '../support/cache-stage.ts'
import { startSharedStage } from '../support/shared-cache-stage.ts'

const LONG = ' of the long list'.repeat(600)
const MANY = 420

test('semantic-cache: long texts beyond `max_entries_memory` make those go that were used longest ago', async (t) => {
  const stage = await startSharedStage({
    config: { plugins: { 'semantic-cache': { persist: false, max_entries_memory: '4MB' } } },
  })
  t.teardown(() => stage.close())
  const ask = (number: number) => stage.ask(`Item ${number}${LONG}?`, { pipe: 'semantic-cache' })
  for (let number = 0; number < MANY; number++) await ask(number)
  t.is(stateOf(await ask(MANY - 1)), 'hit')
  t.is(stateOf(await ask(0)), 'miss')
})
