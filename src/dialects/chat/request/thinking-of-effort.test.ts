import test from 'ava'
import { messagesOf } from '../../../../test/support/chat-translation.ts'
import type { JsonObject } from '../../../../test/support/json.ts'

const question = { role: 'user', content: 'q' }

/** Returns the thinking fields for requested reasoning on a model. */
function think(model: string, extra: JsonObject): JsonObject {
  const { body, dropped } = messagesOf({ model, max_tokens: 50_000, messages: [question], ...extra })
  const { effort } = (body.output_config ?? {}) as JsonObject // the translation's own output
  return { thinking: body.thinking, effort, dropped }
}

const budget = (tokens: number) => ({ type: 'enabled', budget_tokens: tokens })
const ADAPTIVE = { type: 'adaptive' }
const DISABLED = { type: 'disabled' }

for (const [model, effort, thinking, sentEffort, dropped] of [
  ['claude-opus-4-6', 'low', ADAPTIVE, 'low'],
  ['claude-opus-4-6', 'minimal', ADAPTIVE, 'low'],
  ['claude-sonnet-4-6', 'xhigh', ADAPTIVE, 'high'],
  ['claude-opus-4-7', 'xhigh', ADAPTIVE, 'xhigh'],
  ['anthropic/claude-4.6-opus', 'max', ADAPTIVE, 'max'],
  ['claude-opus-latest', 'high', ADAPTIVE, 'high'],
  ['claude-opus-4-6', 'none', DISABLED, undefined],
  ['claude-opus-5', 'none', DISABLED, undefined],
  ['claude-opus-5-5', 'none', undefined, 'low', 'reasoning_effort'],
  ['claude-fable-5', 'none', undefined, 'low', 'reasoning_effort'],
  ['claude-3-7-sonnet-20250219', 'low', budget(2048), undefined],
  ['claude-sonnet-4-20250514', 'medium', budget(8192), undefined],
  ['us.anthropic.claude-opus-4-5-20251101-v1:0', 'high', budget(24_576), undefined],
  ['claude-haiku-4-5', 'none', DISABLED, undefined],
  ['claude-3-5-sonnet-20241022', 'high', undefined, undefined, 'reasoning_effort'],
  ['claude-3-opus-20240229', 'none', undefined, undefined],
  ['gemini-3-pro', 'minimal', budget(2048), undefined],
  ['gpt-5', 'xhigh', budget(24_576), undefined],
] as const) {
  test(`thinking: ${model} gets ${effort} in its own form`, (t) => {
    const expected = { thinking, effort: sentEffort, dropped: dropped === undefined ? [] : [dropped] }
    t.deepEqual(think(model, { reasoning_effort: effort }), expected)
  })
}

for (const [reasoning, model, thinking, effort] of [
  [{ effort: 'medium' }, 'claude-opus-4-6', ADAPTIVE, 'medium'],
  [{ enabled: true }, 'claude-opus-4-6', ADAPTIVE, undefined],
  [{ max_tokens: 3000 }, 'claude-opus-4-6', ADAPTIVE, 'low'],
  [{ max_tokens: 3000 }, 'claude-sonnet-4-5', budget(3000), undefined],
  [{ max_tokens: 10 }, 'claude-sonnet-4-5', budget(1024), undefined],
  [{ enabled: true }, 'claude-sonnet-4-5', budget(8192), undefined],
  [{ enabled: false, effort: 'high' }, 'claude-sonnet-4-5', DISABLED, undefined],
  [{}, 'claude-sonnet-4-5', undefined, undefined],
] as const) {
  test(`thinking: reasoning ${JSON.stringify(reasoning)} is translated for ${model}`, (t) => {
    t.deepEqual(think(model, { reasoning }), { thinking, effort, dropped: [] })
  })
}

test('thinking: reasoning_effort takes precedence over reasoning, and a difference is reported', (t) => {
  const both = { reasoning_effort: 'low', reasoning: { effort: 'high', exclude: true } }
  const { effort, dropped } = think('claude-opus-4-6', both)
  t.is(effort, 'low')
  t.deepEqual(dropped, ['reasoning.exclude', 'reasoning'])
})

test('thinking: Messages’ own fields take precedence over any effort', (t) => {
  const thinking = { type: 'enabled', budget_tokens: 2000, novel: 1 }
  const found = think('claude-sonnet-4-5', { thinking, reasoning_effort: 'high' })
  t.deepEqual(found, { thinking, effort: undefined, dropped: ['reasoning_effort'] })
})

test('thinking: a budget stays below the limit that the client set', (t) => {
  const { thinking } = think('claude-sonnet-4-5', { reasoning_effort: 'high', max_tokens: 5000 })
  t.deepEqual(thinking, budget(4999))
})

test('thinking: where the limit leaves less than the lowest budget, the effort is dropped', (t) => {
  const found = think('claude-sonnet-4-5', { reasoning_effort: 'low', max_tokens: 1024 })
  t.deepEqual(found, { thinking: undefined, effort: undefined, dropped: ['reasoning_effort'] })
})

test('thinking: a limit that the gateway assumed makes room for the budget', (t) => {
  const limit = (extra: JsonObject) =>
    messagesOf({ model: 'claude-opus-4-1', messages: [question], ...extra }).body.max_tokens
  t.is(limit({ reasoning_effort: 'high' }), 28_672)
  t.is(limit({ thinking: budget(10_000) }), 14_096)
})

const TOOLS = { tools: [{ type: 'function', function: { name: 'f' } }] }
const called = {
  role: 'assistant',
  tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
}
const MID_TURN = { messages: [question, called, { role: 'tool', tool_call_id: 'a', content: 'r' }] }

test('thinking: a forced tool takes precedence over thinking', (t) => {
  const forced = { ...TOOLS, tool_choice: 'required', reasoning_effort: 'low' }
  t.deepEqual(think('claude-sonnet-4-5', forced), {
    thinking: undefined,
    effort: undefined,
    dropped: ['reasoning_effort'],
  })
  t.deepEqual(think('claude-opus-4-6', forced), { thinking: undefined, effort: 'low', dropped: ['reasoning_effort'] })
})

test('thinking: in the middle of a tool loop only a model with adaptive thinking can begin to think', (t) => {
  const requested = { ...TOOLS, ...MID_TURN, reasoning_effort: 'low' }
  t.deepEqual(think('claude-sonnet-4-5', requested), {
    thinking: undefined,
    effort: undefined,
    dropped: ['reasoning_effort'],
  })
  t.deepEqual(think('claude-opus-4-6', requested), { thinking: ADAPTIVE, effort: 'low', dropped: [] })
})

test('thinking: Anthropic’s rules about tools do not apply to other models', (t) => {
  const requested = { ...TOOLS, ...MID_TURN, tool_choice: 'required', reasoning_effort: 'low' }
  t.deepEqual(think('gpt-5', requested), { thinking: budget(2048), effort: undefined, dropped: [] })
})
