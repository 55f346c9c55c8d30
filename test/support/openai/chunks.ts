import type { JsonObject } from '../json.ts'
import { toWords } from './tokens.ts'

/** Options of a streamed completion. */
export interface ChunkOptions {
  /** Adds the chunk with the usage and no choices. OpenAI then writes `usage: null` on all others. */
  includeUsage: boolean
  /** Pads chunks with random-looking characters, as OpenAI does by default. */
  obfuscation: boolean
  /** Streams the arguments of parallel calls in turns instead of one call after the other. */
  interleaved: boolean
}

/** Further members of the first delta of a choice. */
type DeltaOptions = Pick<ChunkOptions, 'interleaved'> & { opening: JsonObject }

type Call = { id: string; type: string; function: { name: string; arguments: string } }

const PADDING = 'q7Zk2mXwP9aLr4Td'

/** Builds the chunks of a finished completion of either flavour: a compatible server's have fewer members. */
export function toChunks(completion: JsonObject, options: ChunkOptions): JsonObject[] {
  const { choices, usage, object: _, prompt_logprobs: __, ...head } = completion
  const isOpenAI = 'service_tier' in completion
  const list = choices as JsonObject[] // safe: every completion has choices
  const { id, created, model, ...rest } = head
  const base = { id, object: 'chat.completion.chunk', created, model, ...rest }
  const opening = isOpenAI ? { refusal: null } : {}
  const deltas = list.flatMap((choice) => toChoiceDeltas(choice, { ...options, opening }))
  const nullUsage = options.includeUsage && isOpenAI ? { usage: null } : {}
  const chunks: JsonObject[] = deltas.map((choice) => ({ ...base, choices: [choice], ...nullUsage }))
  if (options.includeUsage) chunks.push({ ...base, choices: [], usage })
  if (!options.obfuscation) return chunks
  return chunks.map((chunk, index) => ({ ...chunk, obfuscation: PADDING.slice(0, 1 + ((index * 7) % PADDING.length)) }))
}

/** Prints a stream: `data:` lines only, and OpenAI's end mark unless `done` is false. */
export function toChatSse(chunks: readonly JsonObject[], done = true): Buffer {
  const lines = [...chunks.map((chunk) => JSON.stringify(chunk)), ...(done ? ['[DONE]'] : [])]
  return Buffer.from(lines.map((line) => `data: ${line}\n\n`).join(''))
}

function toChoiceDeltas(choice: JsonObject, options: DeltaOptions): JsonObject[] {
  const { index, message, finish_reason, ...rest } = choice
  const { stop_reason: _, ...during } = rest
  const deltas = toDeltas(message as JsonObject, options) // safe: every choice has a message
  return [
    ...deltas.map((delta) => ({ index, delta, ...during, finish_reason: null })),
    { index, delta: {}, ...rest, finish_reason },
  ]
}

function toDeltas(message: JsonObject, options: DeltaOptions): JsonObject[] {
  const { role, content, refusal, annotations } = message
  const calls = (message.tool_calls ?? []) as Call[] // safe: built by toCompletion
  const reasoning = ['reasoning_content', 'reasoning'].flatMap((name) =>
    toPieces(message[name]).map((piece) => ({ [name]: piece })),
  )
  const speaks = content !== null || refusal !== null || reasoning.length > 0
  const starts = calls.map((call, index) => ({
    tool_calls: [{ index, id: call.id, type: call.type, function: { name: call.function.name, arguments: '' } }],
  }))
  const pieces = calls.map((call, index) =>
    (call.function.arguments.match(/.{1,7}/gsu) ?? []).map((text) => ({
      tool_calls: [{ index, function: { arguments: text } }],
    })),
  )
  // A single call without any text before it begins in the opening chunk; parallel calls each begin in their own.
  const isMerged = starts.length === 1 && !speaks
  const begins = isMerged ? [] : starts
  return [
    { role, content: speaks ? '' : null, ...(isMerged ? starts[0] : {}), ...options.opening },
    ...reasoning,
    ...toPieces(content).map((piece) => ({ content: piece })),
    ...toPieces(refusal).map((piece) => ({ refusal: piece })),
    ...(Array.isArray(annotations) && annotations.length > 0 ? [{ annotations }] : []),
    ...(options.interleaved ? [...begins, ...inTurns(pieces)] : inSequence(begins, pieces)),
  ]
}

function inSequence(begins: readonly JsonObject[], pieces: readonly JsonObject[][]): JsonObject[] {
  return pieces.flatMap((own, index) => [...begins.slice(index, index + 1), ...own])
}

function inTurns(pieces: readonly JsonObject[][]): JsonObject[] {
  const most = Math.max(0, ...pieces.map((own) => own.length))
  return Array.from({ length: most }, (_, turn) => pieces.flatMap((own) => own.slice(turn, turn + 1))).flat()
}

function toPieces(text: unknown): string[] {
  return typeof text === 'string' ? toWords(text) : []
}
