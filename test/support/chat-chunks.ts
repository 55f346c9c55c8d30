import { isUtf8 } from 'node:buffer'
import { parseEvents } from './events.ts'
import { isJsonObject, type JsonObject, parseJson } from './json.ts'

/** The data that ends a stream. */
const DONE = '[DONE]'
const FINISH_REASONS: ReadonlySet<unknown> = new Set(['stop', 'length', 'tool_calls', 'content_filter'])
const DELTA_TEXTS = ['content', 'refusal', 'reasoning_content']

/** A tool call as far as its deltas have arrived. */
interface Call {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

interface Progress {
  first: JsonObject | undefined
  calls: Call[]
  finishReason: unknown
  hasUsage: boolean
  saidNoUsage: number
  chunks: number
}

/**
 * Parses a stream of chat completion chunks; `[DONE]` is kept. Throws when an event is named or its data is
 * something else. Comments are skipped. Shares no code with the product.
 */
export function parseChatChunks(bytes: Buffer | string): (JsonObject | typeof DONE)[] {
  return parseEvents(bytes).map(({ event, data, text }) => {
    assert(event === 'message', `an event is named ${event}: chunks have no names`)
    if (text === DONE) return DONE
    assert(isJsonObject(data), `data that is no JSON object: ${text.slice(0, 80)}`)
    return data
  })
}

/**
 * Checks that a reply is one complete, valid stream of chat completion chunks, as strictly as for our own, and
 * returns the chunks. Throws an error that names the chunk and the rule it breaks.
 */
export function assertChatStream(bytes: Buffer | string): JsonObject[] {
  assert(typeof bytes === 'string' || isUtf8(bytes), 'the bytes are not UTF-8')
  assert(bytes.toString().endsWith('\n\n'), 'the last event is unfinished')
  const parsed = parseChatChunks(bytes)
  assert(parsed.indexOf(DONE) === parsed.length - 1 && parsed.length > 0, `${DONE} must come once, at the end`)
  const chunks = parsed.filter((chunk) => chunk !== DONE)
  const progress = checkChunks(chunks)
  assert(FINISH_REASONS.has(progress.finishReason), `finish_reason is ${show(progress.finishReason)} in the end`)
  const hasCalled = progress.finishReason === 'tool_calls'
  assert(!hasCalled || progress.calls.length > 0, 'finish_reason is tool_calls, and there is none')
  for (const { function: called } of progress.calls) {
    assert(isJsonObject(parseJson(called.arguments)), `the joined arguments are no JSON object: ${called.arguments}`)
  }
  const expected = progress.hasUsage ? chunks.length - 1 : 0
  assert(progress.saidNoUsage === expected, `"usage":null in ${progress.saidNoUsage} chunks, not in ${expected}`)
  return chunks
}

function checkChunks(chunks: readonly JsonObject[]): Progress {
  const progress: Progress = {
    first: undefined,
    calls: [],
    finishReason: null,
    hasUsage: false,
    saidNoUsage: 0,
    chunks: 0,
  }
  for (const chunk of chunks) {
    try {
      checkChunk(chunk, progress)
    } catch (error) {
      throw new Error(`chunk ${progress.chunks}: ${(error as Error).message}`, { cause: error }) // safe: ours
    }
    progress.chunks++
  }
  return progress
}

function checkChunk(chunk: JsonObject, progress: Progress): void {
  assert(!('error' in chunk), `it carries an error: ${show(chunk.error)}`)
  assert(!progress.hasUsage, `nothing but ${DONE} may follow the usage`)
  assert(chunk.object === 'chat.completion.chunk', `object is ${show(chunk.object)}`)
  assert(isFilled(chunk.id) && isFilled(chunk.model), 'id and model must be non-empty strings')
  assert(Number.isSafeInteger(chunk.created), `created is ${show(chunk.created)}`)
  progress.first ??= chunk
  for (const name of ['id', 'model', 'created']) {
    assert(chunk[name] === progress.first[name], `${name} changed to ${show(chunk[name])}`)
  }
  const { choices, usage } = chunk
  assert(Array.isArray(choices) && choices.length <= 1, 'choices must be an array of at most one')
  if (usage === null) progress.saidNoUsage++
  if (choices.length === 0) checkUsage(usage, progress)
  else {
    assert(usage === null || usage === undefined, 'a chunk with a choice must have no usage')
    checkChoice(choices[0], progress)
  }
}

function checkUsage(usage: unknown, progress: Progress): void {
  assert(progress.finishReason !== null, 'usage before the finish_reason')
  assert(isJsonObject(usage), `a chunk without choices must have usage, not ${show(usage)}`)
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage
  assert([prompt, completion, total].every(isCount), `a count of ${show(usage)} is no integer of at least 0`)
  assert(Number(prompt) + Number(completion) === total, `total_tokens of ${show(usage)} is not the sum`)
  progress.hasUsage = true
}

function checkChoice(choice: unknown, progress: Progress): void {
  assert(isJsonObject(choice) && choice.index === 0, 'a choice must be an object of index 0')
  assert(progress.finishReason === null, 'a choice after the finish_reason')
  const { delta, finish_reason: reason } = choice
  assert(isJsonObject(delta), 'a choice must have a delta')
  const role = progress.chunks === 0 ? 'assistant' : undefined
  assert(delta.role === role, `role must be ${show(role)}, not ${show(delta.role)}`)
  for (const name of DELTA_TEXTS) {
    const text = delta[name] ?? ''
    assert(typeof text === 'string', `${name} must be a string, not ${show(text)}`)
  }
  if (delta.tool_calls !== undefined) checkCalls(delta.tool_calls, progress.calls)
  assert(reason === null || FINISH_REASONS.has(reason), `finish_reason is ${show(reason)}`)
  progress.finishReason = reason
}

function checkCalls(pieces: unknown, calls: Call[]): void {
  assert(Array.isArray(pieces) && pieces.length > 0, 'tool_calls must be a filled array')
  for (const piece of pieces) {
    assert(isJsonObject(piece) && isCount(piece.index), 'a tool call must be an object with an index')
    assert(isJsonObject(piece.function), 'a tool call must have a function')
    const { arguments: text } = piece.function
    assert(typeof text === 'string', 'arguments must be a string')
    const call = calls[piece.index]
    if (call === undefined) beginCall(piece, calls)
    else {
      assert(!('id' in piece || 'type' in piece || 'name' in piece.function), 'only the first piece has id, type, name')
      call.function.arguments += text
    }
  }
}

function beginCall({ index, id, type, function: called }: JsonObject, calls: Call[]): void {
  assert(index === calls.length, `the next call's index must be ${calls.length}, not ${show(index)}`)
  assert(isFilled(id) && type === 'function', 'the first piece of a call must have an id and the type function')
  assert(isJsonObject(called) && isFilled(called.name), 'the first piece of a call must have a name')
  assert(!calls.some((call) => call.id === id), `a second call with the id ${id}`)
  calls.push({ id, type, function: { name: called.name, arguments: String(called.arguments) } })
}

/** Returns the completion that a valid stream would have been as JSON. */
export function assembleCompletion(bytes: Buffer | string): JsonObject {
  const chunks = assertChatStream(bytes)
  const progress = checkChunks(chunks)
  const deltas = chunks.flatMap(({ choices }) => (choices as JsonObject[]).map(({ delta }) => delta as JsonObject)) // checked
  const textOf = (name: string) => deltas.map((delta) => delta[name] ?? '').join('')
  const reasoning = textOf('reasoning_content')
  const message = {
    role: 'assistant',
    content: textOf('content') || null,
    refusal: textOf('refusal') || null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(progress.calls.length > 0 && { tool_calls: progress.calls }),
  }
  const { id, created, model } = progress.first ?? {}
  const choice = { index: 0, message, logprobs: null, finish_reason: progress.finishReason }
  const usage = chunks.at(-1)?.usage
  return { id, object: 'chat.completion', created, model, choices: [choice], ...(progress.hasUsage && { usage }) }
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined'
}

function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`chat stream: ${message}`)
}
