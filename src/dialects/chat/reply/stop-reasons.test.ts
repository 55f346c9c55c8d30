import test from 'ava'
import { finishReasonOf, messageEndingOf } from './stop-reasons.ts'

const plain = { finishReason: 'stop', stoppedBy: undefined, hasRefused: false, hasCalled: false }

for (const [finishReason, reason] of [
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
  ['model_length', 'model_context_window_exceeded'],
  ['eos', 'end_turn'],
  [null, 'end_turn'],
]) {
  test(`stop reasons: the finish reason ${finishReason} is ${reason}`, (t) => {
    t.deepEqual(messageEndingOf({ ...plain, finishReason }), { stop_reason: String(reason), stop_sequence: null })
  })
}

test('stop reasons: a server that finishes with stop after a tool call means tool_use', (t) => {
  t.is(messageEndingOf({ ...plain, hasCalled: true }).stop_reason, 'tool_use')
})

test('stop reasons: a call that was cut is max_tokens, not tool_use', (t) => {
  t.is(messageEndingOf({ ...plain, finishReason: 'length', hasCalled: true }).stop_reason, 'max_tokens')
})

test('stop reasons: a refusal as text is a refusal', (t) => {
  t.is(messageEndingOf({ ...plain, hasRefused: true }).stop_reason, 'refusal')
})

test('stop reasons: the stop string that vLLM reports is the stop sequence', (t) => {
  t.deepEqual(messageEndingOf({ ...plain, stoppedBy: '###' }), { stop_reason: 'stop_sequence', stop_sequence: '###' })
})

test('stop reasons: the number of a stop token is no stop sequence', (t) => {
  t.is(messageEndingOf({ ...plain, stoppedBy: 128009 }).stop_reason, 'end_turn')
})

for (const [stopReason, reason] of [
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
  [null, 'stop'],
]) {
  test(`stop reasons: the stop reason ${stopReason} finishes with ${reason}`, (t) => {
    t.is(finishReasonOf(stopReason), String(reason))
  })
}
