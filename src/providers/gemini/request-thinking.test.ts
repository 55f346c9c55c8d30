import test from 'ava'
import { RequestDocument } from '../../core/request/request.ts'
import { toGeminiRequest } from './request.ts'

function configOf(model: string, fields: Record<string, unknown>) {
  const request = new RequestDocument(Buffer.from(JSON.stringify({ messages: [], ...fields })))
  const { bytes, droppedFields } = toGeminiRequest(request, { model, assumed: [] })
  return [JSON.parse(bytes.toString()).generationConfig?.thinkingConfig, ...droppedFields.dropped]
}

const enabled = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } })

test('gemini thinking: generation 2.5 takes the budget', (t) => {
  t.deepEqual(configOf('gemini-2.5-flash', enabled(5000)), [{ includeThoughts: true, thinkingBudget: 5000 }])
})

test('gemini thinking: a budget above the maximum is reduced and reported', (t) => {
  const most = { includeThoughts: true, thinkingBudget: 24_576 }
  t.deepEqual(configOf('gemini-2.5-flash', enabled(31_999)), [most, 'thinking.budget_tokens'])
  t.deepEqual(configOf('gemini-2.5-pro', enabled(31_999)), [{ includeThoughts: true, thinkingBudget: 31_999 }])
})

test('gemini thinking: generation 3 takes a level for the budget', (t) => {
  const levels = [1024, 8192, 24_576].map((budget) => configOf('gemini-3.5-flash', enabled(budget))[0].thinkingLevel)
  t.deepEqual(levels, ['LOW', 'MEDIUM', 'HIGH'])
})

test('gemini thinking: the first model of generation 3 has no medium level', (t) => {
  t.deepEqual(configOf('gemini-3-pro-preview', { output_config: { effort: 'medium' } }), [{ thinkingLevel: 'HIGH' }])
})

test('gemini thinking: effort is a level in generation 3 and a budget in 2.5', (t) => {
  const fields = { output_config: { effort: 'low' } }
  t.deepEqual(configOf('gemini-flash-latest', fields), [{ thinkingLevel: 'LOW' }])
  t.deepEqual(configOf('gemini-2.5-pro', fields), [{ thinkingBudget: 1024 }])
})

test('gemini thinking: of effort and budget the nearer one counts and the other is reported', (t) => {
  const both = { ...enabled(2000), output_config: { effort: 'high' } }
  t.deepEqual(configOf('gemini-3.1-pro', both), [
    { includeThoughts: true, thinkingLevel: 'HIGH' },
    'thinking.budget_tokens',
  ])
  t.deepEqual(configOf('gemini-2.5-pro', both), [
    { includeThoughts: true, thinkingBudget: 2000 },
    'output_config.effort',
  ])
})

test('gemini thinking: adaptive shows thinking, unless it is to be omitted', (t) => {
  t.deepEqual(configOf('gemini-3-flash', { thinking: { type: 'adaptive' } }), [{ includeThoughts: true }])
  t.deepEqual(configOf('gemini-3-flash', { thinking: { type: 'adaptive', display: 'omitted' } }), [undefined])
})

test('gemini thinking: only the flash models of 2.5 can turn it off', (t) => {
  const fields = { thinking: { type: 'disabled' } }
  t.deepEqual(configOf('gemini-2.5-flash-lite', fields), [{ thinkingBudget: 0 }])
  t.deepEqual(configOf('gemini-2.5-pro', fields), [undefined, 'thinking'])
  t.deepEqual(configOf('gemini-3-flash-preview', fields), [undefined, 'thinking'])
})

test('gemini thinking: models without thinking get no thinking config', (t) => {
  const both = { ...enabled(2000), output_config: { effort: 'high' } }
  t.deepEqual(configOf('gemini-2.0-flash', both), [undefined, 'thinking', 'output_config.effort'])
  t.deepEqual(configOf('gemma-3-27b-it', both), [undefined, 'thinking', 'output_config.effort'])
})

test('gemini thinking: unknown kinds are reported', (t) => {
  const odd = { thinking: { type: 'between_tools' }, output_config: { effort: 'huge', task_budget: {} } }
  t.deepEqual(configOf('gemini-2.5-pro', odd).slice(1), [
    'output_config.task_budget',
    'thinking',
    'output_config.effort',
  ])
})
