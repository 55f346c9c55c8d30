import test from 'ava'
import { createRecordingLog } from '../../../test/support/recording-log.ts'
import type { StoredResponse } from '../../core/ports/stored-responses.ts'
import { createResponsesDialect } from '../../dialects/responses/dialect.ts'
import { BodyIntake } from '../body-intake.ts'
import { ResponseStates } from './response-states.ts'

const dialect = createResponsesDialect({ defaultMaxTokens: 100, modelNamed: (name) => name, nowMs: () => 0 })
const stored: StoredResponse = {
  ...{ scope: 'key:a', id: 'resp_1', provider: 'openai', account: 'digest' },
  ...{ tokens: 7, content: null, conversation: null },
}

const count = () => ({ add() {}, end() {} })

/** Opens states whose store has the response from the nth query on. */
function statesWith(nth: number) {
  let queries = 0
  const responses = {
    find: async () => (++queries >= nth ? stored : undefined),
    contentBytes: async () => 0,
    put: async () => {},
    delete: async () => {},
  }
  const log = createRecordingLog()
  const provider = () => ({ storesResponses: true })
  const states = new ResponseStates({ responses, dialect, provider, keeps: false, count, mostBytes: 1000, log })
  return { states, queries: () => queries }
}

test('response states: what another instance is still storing is found', async (t) => {
  const { states, queries } = statesWith(3)
  t.is(await states.find('key:a', 'resp_1'), stored)
  t.is(queries(), 3)
})

test('response states: what is stored is found at once, and what nothing stores after four queries', async (t) => {
  const known = statesWith(1)
  t.is(await known.states.find('key:a', 'resp_1'), stored)
  t.is(known.queries(), 1)
  const unknown = statesWith(100)
  t.is(await unknown.states.find('key:a', 'resp_1'), undefined)
  t.is(unknown.queries(), 4)
  t.is(await unknown.states.find('key:a', 'no id/'), undefined)
  t.is(unknown.queries(), 4)
})

test('response states: a conversation that is read counts in the budget of bodies, until it is read', async (t) => {
  const intake = new BodyIntake({ limitBytes: 1000, budgetBytes: 1000 })
  const kept = { ...stored, content: '{}' }
  const gate = Promise.withResolvers<void>()
  const responses = {
    async find() {
      await gate.promise
      return kept
    },
    contentBytes: async () => 600,
    put: async () => {},
    delete: async () => {},
  }
  const states = new ResponseStates({
    ...{ responses, dialect, keeps: true, mostBytes: 1000, log: createRecordingLog() },
    provider: () => ({ storesResponses: false }),
    count: (sender, drop) => intake.count(sender, drop),
  })
  const reading = [states.find('key:a', 'resp_1'), states.find('key:a', 'resp_2'), states.find('key:b', 'resp_1')]
  gate.resolve()
  const outcomes = await Promise.allSettled(reading)
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  t.is(refused.length, 2)
  for (const { reason } of refused as PromiseRejectedResult[]) t.like(reason, { code: 'service_unavailable' })
  t.is(outcomes[2]?.status, 'fulfilled', 'the caller with fewer bytes keeps its own')
  t.is(await states.find('key:a', 'resp_1'), kept)
})
