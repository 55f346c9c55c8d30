import type { SseEvent } from './events.ts'
import { isJsonObject, type JsonObject, parseJson } from './json.ts'

/** The block between its start and its stop. */
interface OpenBlock {
  index: number
  type: string
  /** Chunks of a tool's input so far. */
  input: string
  /** True if a tool's input was whole in the start, so that no chunk may follow. */
  isWhole: boolean
}

interface Progress {
  phase: 'before' | 'blocks' | 'ending' | 'stopped'
  nextIndex: number
  block: OpenBlock | undefined
  outputTokens: number
}

type Rule = (data: JsonObject, progress: Progress) => void

/** Delta types that may fill a block, by the block's type, each with the member that carries its text. */
const inputDelta = { input_json_delta: 'partial_json' }
const deltaMembers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  text: { text_delta: 'text', citations_delta: 'citation' },
  thinking: { thinking_delta: 'thinking', signature_delta: 'signature' },
  tool_use: inputDelta,
  server_tool_use: inputDelta,
  mcp_tool_use: inputDelta,
}

const rules: Readonly<Record<string, Rule>> = {
  message_start: checkMessageStart,
  content_block_start: checkBlockStart,
  content_block_delta: checkBlockDelta,
  content_block_stop: checkBlockStop,
  message_delta: checkMessageDelta,
  message_stop: checkMessageStop,
  ping: () => {},
}

/** Checks the events of one complete Messages stream. Throws an error that names the event and the rule it breaks. */
export function checkEvents(events: readonly SseEvent[]): void {
  const progress: Progress = { phase: 'before', nextIndex: 0, block: undefined, outputTokens: 0 }
  for (const [position, event] of events.entries()) {
    try {
      checkEvent(event, progress)
    } catch (error) {
      throw new Error(`event ${position} (${event.event}): ${(error as Error).message}`, { cause: error }) // safe: ours
    }
  }
  if (progress.phase !== 'stopped') throw new Error(`stream: ends after ${events.length} events without message_stop`)
}

function checkEvent({ event, data, text }: SseEvent, progress: Progress): void {
  assert(isJsonObject(data), `its data is not a JSON object: ${text.slice(0, 80)}`)
  assert(data.type === event, `its name is not the type of its data, ${show(data.type)}`)
  assert(event !== 'error', `the stream carries an error: ${text}`)
  const rule = Object.hasOwn(rules, event) ? rules[event] : undefined
  assert(rule, 'there is no such event')
  assert(progress.phase !== 'stopped', 'nothing may follow message_stop')
  assert(progress.phase !== 'before' || event === 'message_start', 'the first event must be message_start')
  rule(data, progress)
}

function checkMessageStart({ message }: JsonObject, progress: Progress): void {
  assert(progress.phase === 'before', 'a second message_start')
  assert(isJsonObject(message), 'it has no message object')
  assert(isFilled(message.id), `message.id must be a non-empty string, not ${show(message.id)}`)
  assert(message.type === 'message', `message.type must be "message", not ${show(message.type)}`)
  assert(message.role === 'assistant', `message.role must be "assistant", not ${show(message.role)}`)
  assert(isFilled(message.model), `message.model must be a non-empty string, not ${show(message.model)}`)
  assert(Array.isArray(message.content) && message.content.length === 0, 'message.content must be []')
  assert(message.stop_reason === null, `message.stop_reason must be null, not ${show(message.stop_reason)}`)
  assert((message.stop_sequence ?? null) === null, 'message.stop_sequence must be null')
  assert(isJsonObject(message.usage), 'message.usage must be an object')
  assert(isCount(message.usage.input_tokens), 'message.usage.input_tokens must be an integer of at least 0')
  progress.outputTokens = checkOutputTokens(message.usage, 0)
  progress.phase = 'blocks'
}

function checkBlockStart({ index, content_block: block }: JsonObject, progress: Progress): void {
  assert(progress.phase === 'blocks', 'a block may not start after message_delta')
  assert(!progress.block, `block ${progress.block?.index} is still open`)
  assert(index === progress.nextIndex, `its index must be ${progress.nextIndex}, not ${show(index)}`)
  assert(isJsonObject(block) && isFilled(block.type), 'content_block must be an object with a type')
  if (block.type === 'text') assert(block.text === '', `a text block must start with text "", not ${show(block.text)}`)
  if (block.type === 'thinking') assert(block.thinking === '', 'a thinking block must start with thinking ""')
  const isWhole = deltaMembers[block.type] === inputDelta && checkToolStart(block)
  progress.block = { index: progress.nextIndex++, type: block.type, input: '', isWhole }
}

/** Returns whether the input was whole in the start, as in calls by provider-side code, and only there. */
function checkToolStart({ type, id, name, input, caller }: JsonObject): boolean {
  assert(isFilled(id) && isFilled(name), `a ${type} block must have an id and a name`)
  assert(isJsonObject(input), `input of a ${type} block must be an object`)
  const isWhole = Object.keys(input).length > 0
  const isCalledByCode = isJsonObject(caller) && caller.type !== 'direct'
  assert(!isWhole || isCalledByCode, `a ${type} block must start with input {}, not ${show(input)}`)
  return isWhole
}

function checkBlockDelta({ index, delta }: JsonObject, progress: Progress): void {
  const block = checkOpen(index, progress)
  assert(isJsonObject(delta) && isFilled(delta.type), 'delta must be an object with a type')
  const members = deltaMembers[block.type] ?? {}
  const member = Object.hasOwn(members, delta.type) ? members[delta.type] : undefined
  assert(member, `a ${delta.type} may not be in a ${block.type} block`)
  const value = delta[member]
  const isValid = member === 'citation' ? isJsonObject(value) : typeof value === 'string'
  assert(isValid, `${member} of a ${delta.type} must be ${member === 'citation' ? 'an object' : 'a string'}`)
  if (member === 'partial_json') {
    assert(!block.isWhole, `its block's input came whole in the start`)
    block.input += value
  }
}

function checkBlockStop({ index }: JsonObject, progress: Progress): void {
  const { input } = checkOpen(index, progress)
  assert(input === '' || isJsonObject(parseJson(input)), `the joined tool input is not a JSON object: ${input}`)
  progress.block = undefined
}

function checkMessageDelta({ delta, usage }: JsonObject, progress: Progress): void {
  assert(!progress.block, `block ${progress.block?.index} is still open`)
  assert(isJsonObject(delta), 'it has no delta object')
  assert(isFilled(delta.stop_reason), `delta.stop_reason must be a non-empty string, not ${show(delta.stop_reason)}`)
  const sequence = delta.stop_sequence ?? null
  assert(sequence === null || typeof sequence === 'string', 'delta.stop_sequence must be null or a string')
  assert(isJsonObject(usage), 'it has no usage object')
  progress.outputTokens = checkOutputTokens(usage, progress.outputTokens)
  progress.phase = 'ending'
}

function checkMessageStop(_: JsonObject, progress: Progress): void {
  assert(progress.phase === 'ending', 'message_stop must follow message_delta')
  progress.phase = 'stopped'
}

function checkOpen(index: unknown, { block }: Progress): OpenBlock {
  assert(block, 'no block is open')
  assert(index === block.index, `its index must be ${block.index}, the open block's, not ${show(index)}`)
  return block
}

/** Returns the output tokens of a usage object, which counts from the start of the message and so never falls. */
function checkOutputTokens({ output_tokens: tokens }: JsonObject, atLeast: number): number {
  assert(isCount(tokens), 'usage.output_tokens must be an integer of at least 0')
  assert(tokens >= atLeast, `usage.output_tokens fell from ${atLeast} to ${tokens}`)
  return tokens
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
  if (!condition) throw new Error(message)
}
