import test from 'ava'
import { toResponse } from '../../../test/support/gemini/answers.ts'
import { checkBody } from '../../../test/support/gemini/check-request.ts'
import { call, signatureOf, thought } from '../../../test/support/gemini/script.ts'
import type { JsonObject } from '../../../test/support/json.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { toCountTokensReply } from './count-tokens.ts'
import { toMessagesReply } from './reply.ts'
import { toGeminiRequest } from './request.ts'

const IDENTITY = { model: 'gemini-3-pro', id: 'msg_1' }
const CONTEXT = { body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }, model: 'gemini-3-pro', nth: 7 }

function translate(reply: JsonObject | string) {
  const text = typeof reply === 'string' ? reply : JSON.stringify(reply, null, 2)
  const bytes = toMessagesReply(Buffer.from(text), IDENTITY)
  return bytes && { text: bytes.toString(), ...JSON.parse(bytes.toString()) }
}

const finished = (finishReason: string, parts: JsonObject[] = [{ text: 'a' }]) =>
  translate({ candidates: [{ content: { parts }, finishReason }] })

test('gemini reply: a printed response becomes a message', (t) => {
  const { text, ...message } = translate(toResponse({ ...CONTEXT, model: 'gemini-2.5-flash' }, { text: 'Größe 🙂' }))
  t.true(text.includes('Größe 🙂'))
  t.deepEqual(message, {
    model: 'gemini-3-pro',
    id: 'standIn000000000000007',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Größe 🙂' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: message.usage,
  })
  t.deepEqual(Object.keys(message.usage).length, 4)
})

test('gemini reply: without a responseId the message has the id that was given', (t) => {
  t.is(finished('STOP').id, 'msg_1')
})

test('gemini reply: consecutive texts are one block', (t) => {
  t.deepEqual(finished('STOP', [{ text: 'a ' }, { text: 'b' }]).content, [{ type: 'text', text: 'a b' }])
})

test('gemini reply: arguments keep their exact text', (t) => {
  const args = '{\n  "n": 1.0, "big": 9007199254740993,\n  "10": "\\u00e9", "2": "漢"\n}'
  const parts = `[{"functionCall":{"args":${args},"name":"f"}}]`
  const message = translate(`{"candidates":[{"content":{"parts":${parts}},"finishReason":"STOP"}]}`)
  t.true(message.text.includes(`"input":${args}`))
})

test('gemini reply: finish reasons are translated', (t) => {
  const calls = [call('f')]
  t.is(finished('STOP').stop_reason, 'end_turn')
  t.is(finished('STOP', calls).stop_reason, 'tool_use')
  t.is(finished('MAX_TOKENS', calls).stop_reason, 'max_tokens')
  t.is(finished('MALFORMED_FUNCTION_CALL').stop_reason, 'end_turn')
  t.is(finished('SOMETHING_NEW').stop_reason, 'end_turn')
  for (const reason of [
    'SAFETY',
    'RECITATION',
    'BLOCKLIST',
    'PROHIBITED_CONTENT',
    'SPII',
    'LANGUAGE',
    'IMAGE_SAFETY',
  ]) {
    t.is(finished(reason).stop_reason, 'refusal', reason)
  }
})

test('gemini reply: a blocked prompt is a refusal without content', (t) => {
  const { content, stop_reason } = translate(toResponse(CONTEXT, { blockReason: 'SAFETY' }))
  t.deepEqual([content, stop_reason], [[], 'refusal'])
})

test('gemini reply: an unreadable reply is undefined', (t) => {
  const unreadable = ['', 'x', '{}', '[]', '{"candidates":[]}', '{"error":{"code":500}}', '{"candidates":[{"finish']
  for (const reply of unreadable) t.is(translate(reply), undefined, reply)
})

test('gemini reply: parts without an equivalent are not left out', (t) => {
  t.is(finished('STOP', [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }]), undefined)
})

/** Returns the request after `message`: its content unchanged, and results of the calls in it. */
function nextRequest(message: { content: { type: string; id?: string }[] }): RequestDocument {
  const results = message.content
    .filter(({ type }) => type === 'tool_use')
    .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }))
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: message.content },
    { role: 'user', content: results.length > 0 ? results : 'thanks' },
  ]
  return new RequestDocument(Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, messages })))
}

test('gemini reply: signatures return on the parts that they came with', (t) => {
  const answers = [
    [thought('hm'), call('f', { a: 1 }), call('g')],
    [{ text: 'calling' }, call('f'), call('g', {}, { thoughtSignature: signatureOf('second') })],
    [{ text: 'only words', thoughtSignature: signatureOf('text') }],
    [
      { text: 'words', thoughtSignature: signatureOf('text') },
      call('f', {}, { thoughtSignature: signatureOf('call') }),
    ],
    [{ text: 'words' }, { text: '', thoughtSignature: signatureOf('late') }],
  ]
  for (const parts of answers) {
    const response = toResponse(CONTEXT, { parts })
    const { bytes, droppedFields } = toGeminiRequest(nextRequest(translate(response)), {
      model: 'gemini-3-pro',
      assumed: [],
    })
    const body = JSON.parse(bytes.toString())
    t.is(checkBody(body, { kind: 'generate', model: 'gemini-3-pro' }), undefined)
    const signed = (list: JsonObject[]) => list.flatMap(({ thoughtSignature }) => thoughtSignature ?? [])
    const sent = (response.candidates as { content: { parts: JsonObject[] } }[])[0]?.content.parts ?? []
    t.deepEqual(signed(body.contents[1].parts), signed(sent))
    t.deepEqual(droppedFields.dropped, [])
  }
})

test('gemini reply: a client that drops the thinking can continue', (t) => {
  const { content } = translate(toResponse(CONTEXT, { parts: [call('f'), call('g')] }))
  const kept = { content: content.filter(({ type }: { type: string }) => type !== 'thinking') }
  const { bytes } = toGeminiRequest(nextRequest(kept), { model: 'gemini-3-pro', assumed: [] })
  t.is(checkBody(JSON.parse(bytes.toString()), { kind: 'generate', model: 'gemini-3-pro' }), undefined)
})

test('gemini reply: a count of tokens is translated, and nothing else', (t) => {
  const counted = (reply: string) => toCountTokensReply(Buffer.from(reply))?.toString()
  t.is(counted('{"totalTokens": 31, "promptTokensDetails": []}'), '{"input_tokens":31}')
  for (const reply of ['{}', 'x', '', '{"totalTokens":"31"}', '{"totalTokens":-1}']) t.is(counted(reply), undefined)
})
