import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { z } from 'zod'
import { assembleCompletion, assertChatStream, parseChatChunks } from '../../../../test/support/chat-chunks.ts'
import { assembleMessage, assertMessageStream, parseEvents } from '../../../../test/support/events.ts'
import { loadErrors, loadRecordings } from '../../../../test/support/recordings.ts'
import { toChatError } from './errors.ts'
import { createChatChunks } from './to-chat-chunks.ts'
import { toChatReply } from './to-chat-reply.ts'
import { createMessagesEvents } from './to-messages-events.ts'
import { toMessagesReply } from './to-messages-reply.ts'
import { readChatUsage } from './usage.ts'

// biome-ignore lint/suspicious/noExplicitAny: reads recorded replies of many shapes, and a wrong one fails the test
type Json = any

const DATA = path.resolve(import.meta.dirname, '../../../..', process.env.TURNPIKE_DATA ?? '../shared/data')
const fallback = { model: 'asked', id: 'msg_fallback' }
const created = 1_700_000_000

/** Loads every recorded reply of a chat provider, with its name. */
function loadChatReplies(t: ExecutionContext): { name: string; sse?: string; body?: Json; status: number }[] {
  const folder = path.join(DATA, 'recordings')
  if (!existsSync(folder)) {
    t.log(`no recordings in ${folder}: set TURNPIKE_DATA to the data folder`)
    return []
  }
  const names = readdirSync(folder).filter((name) => /^o\d/.test(name))
  return names.flatMap((name) =>
    JSON.parse(readFileSync(path.join(folder, name), 'utf8')).interactions.map(({ response }: Json) => ({
      name,
      ...response,
    })),
  )
}

/** Loads the check of a schema made from the official SDK's types; `undefined` when there is none. */
function loadSchema(t: ExecutionContext, name: string): ((value: unknown) => void) | undefined {
  const file = path.join(DATA, 'schemas', `sdk-types-${name}.schema.json`)
  if (!existsSync(file)) {
    t.log(`no schema ${file}`)
    return undefined
  }
  const schema = z.fromJSONSchema(JSON.parse(readFileSync(file, 'utf8')))
  return (value) => void schema.parse(value)
}

function toMessagesStream(sse: string): string {
  const translator = createMessagesEvents(fallback)
  return (
    parseEvents(sse)
      .map(({ event, text }) => translator.event(event, text))
      .join('') + translator.end()
  )
}

function toChatStream(sse: string, includeUsage = true): string {
  const translator = createChatChunks({ created, includeUsage })
  return (
    parseEvents(sse)
      .map(({ event, text }) => translator.event(event, text))
      .join('') + translator.end()
  )
}

/** Returns the content of a chat stream, whatever the rest of its chunks. */
function saidIn(sse: string) {
  const said: Json = { text: '', calls: [], finishReason: null, usage: undefined }
  const chunks: Json[] = parseChatChunks(sse)
  for (const chunk of chunks) {
    const { delta, finish_reason } = chunk.choices?.[0] ?? {}
    said.text += delta?.content ?? ''
    for (const { index, function: called } of delta?.tool_calls ?? []) {
      said.calls[index] ??= { name: called.name, text: '' }
      said.calls[index].text += called.arguments
    }
    said.finishReason = finish_reason ?? said.finishReason
    said.usage = chunk.usage ?? said.usage
  }
  return said
}

const STOPS: Json = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens' }
const textOf = (content: Json[], type = 'text') =>
  content.map((block) => (block.type === type ? block[type] : '')).join('')
const toolsOf = (content: Json[]) => content.filter(({ type }) => type === 'tool_use')

test('recordings: chat streams become Messages streams with the same content', (t) => {
  for (const { sse } of loadChatReplies(t)) {
    if (sse === undefined) continue
    const said = saidIn(sse)
    const message: Json = assembleMessage(assertMessageStream(toMessagesStream(sse)))
    t.is(textOf(message.content), said.text)
    t.deepEqual(
      toolsOf(message.content).map(({ name, input }) => ({ name, input })),
      said.calls.map(({ name, text }: Json) => ({ name, input: JSON.parse(text) })),
    )
    t.is(message.stop_reason, STOPS[String(said.finishReason)])
    t.deepEqual(message.usage, readChatUsage(said.usage)?.raw)
    t.is(message.usage.input_tokens, said.usage.prompt_tokens)
  }
  t.pass()
})

test('recordings: chat completions become messages with the same content', (t) => {
  for (const { body, status } of loadChatReplies(t)) {
    if (!body || status !== 200) continue
    const message = JSON.parse(String(toMessagesReply(Buffer.from(JSON.stringify(body)), fallback)))
    const { message: said, finish_reason } = body.choices[0]
    t.is(textOf(message.content), said.content ?? '')
    t.deepEqual(
      toolsOf(message.content).map(({ id, input }) => ({ id, input })),
      (said.tool_calls ?? []).map((call: Json) => ({ id: call.id, input: JSON.parse(call.function.arguments) })),
    )
    t.is(message.stop_reason, STOPS[finish_reason])
    t.is(message.usage.output_tokens, body.usage.completion_tokens)
  }
  t.pass()
})

test('recordings: Messages streams become chat streams with the same content', (t) => {
  const { items, absent } = loadRecordings()
  if (absent) t.log(absent)
  const check = items.length > 0 ? loadSchema(t, 'OCC') : undefined
  for (const { response } of items.filter(isAnswer)) {
    if (!response.isStream) continue
    const message: Json = assembleMessage(assertMessageStream(response.bytes))
    for (const chunk of assertChatStream(toChatStream(String(response.bytes)))) check?.(chunk)
    assertSame(t, assembleCompletion(toChatStream(String(response.bytes))), message)
    assertChatStream(toChatStream(String(response.bytes), false))
  }
  t.pass()
})

test('recordings: messages become chat completions with the same content', (t) => {
  const { items, absent } = loadRecordings()
  if (absent) t.log(absent)
  const check = items.length > 0 ? loadSchema(t, 'OC') : undefined
  for (const { response } of items.filter(isAnswer)) {
    if (response.isStream) continue
    const completion = JSON.parse(String(toChatReply(response.bytes, { created })))
    check?.(completion)
    assertSame(t, completion, JSON.parse(String(response.bytes)))
  }
  t.pass()
})

test('recordings: an answer to chat and back keeps text, tools, counts and stop reason', (t) => {
  for (const { response } of loadRecordings().items.filter(isAnswer)) {
    const { before, after } = response.isStream ? throughStreams(String(response.bytes)) : throughJson(response.bytes)
    t.is(textOf(after.content), textOf(before.content))
    t.is(textOf(after.content, 'thinking'), textOf(before.content, 'thinking'))
    const plain = ({ id, name, input }: Json) => ({ id, name, input })
    t.deepEqual(toolsOf(after.content).map(plain), toolsOf(before.content).map(plain))
    for (const name of ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens']) {
      t.is(after.usage[name], before.usage[name] ?? 0)
    }
    t.is(after.stop_reason, before.stop_reason === 'stop_sequence' ? 'end_turn' : before.stop_reason)
  }
  t.pass()
})

function throughStreams(sse: string): { before: Json; after: Json } {
  const back = toMessagesStream(toChatStream(sse))
  return { before: assembleMessage(parseEvents(sse)), after: assembleMessage(assertMessageStream(back)) }
}

function throughJson(bytes: Buffer): { before: Json; after: Json } {
  const back = toMessagesReply(toChatReply(bytes, { created }) ?? Buffer.of(), fallback)
  return { before: JSON.parse(String(bytes)), after: JSON.parse(String(back)) }
}

test('recordings: error replies of Messages providers keep their type and message as chat errors', (t) => {
  for (const { response } of loadErrors().items) {
    if (response.isStream || response.bytes.length === 0) continue
    const { error } = JSON.parse(String(response.bytes))
    t.like(JSON.parse(String(toChatError(response.status, response.bytes))).error, {
      ...error,
      code: null,
      param: null,
    })
  }
  t.pass()
})

function isAnswer({ response }: { response: { status: number; bytes: Buffer } }): boolean {
  return response.status === 200 && response.bytes.includes('stop_reason') && response.bytes.includes('"content"')
}

function assertSame(t: ExecutionContext, completion: Json, message: Json): void {
  const { message: said, finish_reason } = completion.choices[0]
  t.is(said.content ?? '', textOf(message.content))
  t.is(said.reasoning_content ?? '', textOf(message.content, 'thinking'))
  t.deepEqual(
    (said.tool_calls ?? []).map(({ id, function: called }: Json) => ({ id, input: JSON.parse(called.arguments) })),
    toolsOf(message.content).map(({ id, input }) => ({ id, input })),
  )
  t.is(finish_reason, { tool_use: 'tool_calls', max_tokens: 'length' }[String(message.stop_reason)] ?? 'stop')
  t.is(completion.usage.completion_tokens, message.usage.output_tokens)
}
