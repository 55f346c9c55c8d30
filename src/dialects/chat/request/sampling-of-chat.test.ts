import test from 'ava'
import type { JsonObject } from '../../../core/json/json-value.ts'
import { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { toSampling } from './sampling-of-chat.ts'

const ENABLED = { type: 'enabled', budget_tokens: 1024 }
const FIXED = 'claude-opus-4-7'
const BUDGET = 'claude-sonnet-4-5'

function sampled(model: string, given: JsonObject, thinking?: JsonObject) {
  const droppedFields = new DroppedFields()
  const { temperature, top_p, top_k } = toSampling({ model, ...given }, thinking, droppedFields)
  return { kept: [temperature, top_p, top_k], dropped: droppedFields.dropped }
}

test('sampling: without thinking all is kept', (t) => {
  for (const model of [BUDGET, 'gpt-4o'])
    t.deepEqual(sampled(model, { temperature: 0.3, top_p: 0.1, top_k: 5 }), { kept: [0.3, 0.1, 5], dropped: [] }, model)
  t.deepEqual(sampled(BUDGET, {}), { kept: [undefined, undefined, undefined], dropped: [] })
})

test('sampling: with thinking a temperature of 1 and a top_p from 0.95 are kept', (t) => {
  t.deepEqual(sampled(BUDGET, { temperature: 1, top_p: 0.95 }, ENABLED), { kept: [1, 0.95, undefined], dropped: [] })
  t.deepEqual(sampled(BUDGET, { temperature: 0.9, top_p: 0.94, top_k: 5 }, ENABLED), {
    kept: [undefined, undefined, undefined],
    dropped: ['temperature', 'top_p', 'top_k'],
  })
  t.deepEqual(sampled(BUDGET, { temperature: 0.9 }, { type: 'disabled' }).kept[0], 0.9)
  t.deepEqual(sampled('gpt-4o', { temperature: 0.9, top_p: 0.5 }, ENABLED).kept, [0.9, 0.5, undefined])
})

test('sampling: where it is fixed only the default values are kept', (t) => {
  t.deepEqual(sampled(FIXED, { temperature: 1, top_p: 1 }), { kept: [1, 1, undefined], dropped: [] })
  t.deepEqual(sampled(FIXED, { temperature: 0, top_p: 0.99, top_k: 1 }).dropped, ['temperature', 'top_p', 'top_k'])
})

test('sampling: the bounds are within, and other values are faults', (t) => {
  t.deepEqual(sampled('gpt-4o', { temperature: 2, top_p: 0 }).kept, [2, 0, undefined])
  for (const given of [{ temperature: 2.1 }, { temperature: -0.1 }, { top_p: 1.1 }, { top_p: '1' }, { top_k: -1 }])
    t.throws(() => sampled('gpt-4o', given), undefined, JSON.stringify(given))
})
