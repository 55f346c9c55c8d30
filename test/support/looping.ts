import type { JsonObject } from './json.ts'

/** A tool call and its result. */
export interface LoopStep {
  readonly name?: string
  readonly input: JsonObject
  readonly result: string
  readonly isError?: boolean
}

/** A step that is ordinary but for its repetition. */
export const SAME: LoopStep = {
  name: 'Bash',
  input: { command: 'npm test -- queue' },
  result: '✖ 2 tests failed\n✔ 118 passed\n  at src/queue.ts:41',
}

/** Returns the messages of a session with these steps, in the Messages dialect. */
export function messagesOf(steps: readonly LoopStep[], task = 'Repair the queue.'): JsonObject[] {
  return [
    { role: 'user', content: task },
    ...steps.flatMap(({ name = 'Bash', input, result, isError }, index) => [
      { role: 'assistant', content: [{ type: 'tool_use', id: `toolu_${index}`, name, input }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: `toolu_${index}`, content: result, ...(isError && { is_error: true }) },
        ],
      },
    ]),
  ]
}

/** Returns the same as chat messages. */
export function chatMessagesOf(steps: readonly LoopStep[], task = 'Repair the queue.'): JsonObject[] {
  return [
    { role: 'user', content: task },
    ...steps.flatMap(({ name = 'Bash', input, result }, index) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: `call_${index}`, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
      },
      { role: 'tool', tool_call_id: `call_${index}`, content: result },
    ]),
  ]
}

/** Returns the same as the input of a response. */
export function inputOf(steps: readonly LoopStep[], task = 'Repair the queue.'): JsonObject[] {
  return [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: task }] },
    ...steps.flatMap(({ name = 'Bash', input, result }, index) => [
      { type: 'function_call', call_id: `call_${index}`, name, arguments: JSON.stringify(input) },
      { type: 'function_call_output', call_id: `call_${index}`, output: result },
    ]),
  ]
}
