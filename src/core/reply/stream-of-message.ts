/**
 * DESIGN — replays: a stored reply as a stream or as JSON
 *
 *   stored message ──streamOfMessage──► the events of a live stream
 *   message of a JSON reply ──eventsOfMessage──► events, for a translator of streams
 *   stored stream ──messageOfStream──► the message of a live JSON reply
 *
 * Guarantees
 * - Nothing is parsed and printed again: values are slices of the stored bytes, so that 1.0, 2^53+1, escapes and the
 *   order of keys survive. The texts here are bytes read as latin1, as in `scan.ts`; a slice in is a slice out.
 * - Events, their keys and the order of keys are those of recorded streams; no sign shows that the reply is stored.
 * - A reply that cannot be converted faithfully is `undefined`, never a guess.
 * The other direction is in `message-of-stream.ts`.
 * Limits: values that a message lacks are made up: chunks of a few words, `message_start` with the final input
 * counts and one output token. `estimated_tokens` of thinking deltas, a progress display, is dropped.
 */
import { elementsOf, isString, type Members, membersOf, merge, objectOf, pick, print } from '../json/raw-json.ts'

/** Members of a message that `message_delta` carries in `delta`; in `message_start` they are null. */
const STOP_MEMBERS = ['stop_reason', 'stop_sequence', 'stop_details']
/** Counts that both `message_start` and `message_delta` carry, in the order of the latter. */
const REPEATED_USAGE = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens']
/** Members of `usage` that only `message_delta` carries. */
const FINAL_USAGE = ['output_tokens_details', 'server_tool_use', 'iterations', 'fallback_credit']
/** Members of a compaction block, which one delta carries as a whole. */
export const COMPACTED = ['content', 'encrypted_content']

/**
 * Returns the stream of events that the stored JSON message would have been. Throws `ScanError` when it is no message.
 * Source of shapes: recorded streams; for citations and compaction, the provider's SDK types.
 */
export function streamOfMessage(messageJson: Buffer | string): Buffer {
  const bytes = typeof messageJson === 'string' ? Buffer.from(messageJson) : messageJson
  let stream = ''
  for (const { name, data } of eventsOfMessage(bytes, chunks))
    stream += `event: ${name}\ndata: ${data.replace(LINE_ENDS, ' ')}\n\n`
  return Buffer.from(stream, 'latin1')
}

/** Line ends of JSON are white space; in an event they would end the data. */
const LINE_ENDS = /[\r\n]/g

/** An event of a stream; `data` is raw JSON. */
export interface RawEvent {
  readonly name: string
  readonly data: string
}

/** Cuts raw JSON, or the raw content of a JSON string, into the pieces of its deltas. */
type Cut = (raw: string) => readonly string[]

/** Leaves a text in one piece. */
const inOnePiece: Cut = (raw) => (raw === '' ? [] : [raw])

/** Returns the events of a message, by default with one delta for each text. Throws `ScanError` when it is no message. */
export function eventsOfMessage(bytes: Buffer, cut: Cut = inOnePiece): RawEvent[] {
  const message = membersOf(bytes.toString('latin1').trim())
  const blocks = elementsOf(message.get('content') ?? '[]').map(membersOf)
  const events = [event('message_start', `,"message":${print(startOf(message, blocks))}`)]
  for (const [index, block] of blocks.entries()) {
    const at = `,"index":${index}`
    const deltas = takeDeltas(block, cut)
    events.push(event('content_block_start', `${at},"content_block":${print(block)}`))
    for (const delta of deltas) events.push(event('content_block_delta', `${at},"delta":${delta}`))
    events.push(event('content_block_stop', at))
  }
  events.push(event('message_delta', endOf(message)), event('message_stop', ''))
  return events
}

function event(name: string, fields: string): RawEvent {
  return { name, data: `{"type":"${name}"${fields}}` }
}

/** Returns the message as it is before its first block. */
function startOf(message: Members, blocks: readonly Members[]): Members {
  const start = new Map(message).set('content', '[]')
  for (const name of STOP_MEMBERS) if (start.has(name)) start.set(name, 'null')
  if (start.get('container') !== 'null') start.delete('container')
  start.delete('context_management')
  const asked = objectOf(blocks.find(isFallback)?.get('from'))
  if (asked !== undefined) merge(start, pick(asked, ['model']))
  const usage = objectOf(start.get('usage'))
  if (usage === undefined) return start
  for (const name of FINAL_USAGE) usage.delete(name)
  if (Number(usage.get('output_tokens')) > 0) usage.set('output_tokens', '1')
  return start.set('usage', print(usage))
}

/** Returns the fields of `message_delta`. */
function endOf(message: Members): string {
  const usage = objectOf(message.get('usage'))
  const edits = message.get('context_management')
  return [
    `,"delta":${print(pick(message, [...STOP_MEMBERS, ...(message.get('container') === 'null' ? [] : ['container'])]))}`,
    usage === undefined ? '' : `,"usage":${print(pick(usage, [...REPEATED_USAGE, ...FINAL_USAGE]))}`,
    edits === undefined ? '' : `,"context_management":${edits}`,
  ].join('')
}

/** Empties `block` to the form of its `content_block_start`, and returns the deltas that fill it again. */
function takeDeltas(block: Members, cut: Cut): string[] {
  const type = block.get('type')
  if (type === '"text"') return [...takeCitations(block), ...takeText(block, 'text', cut)]
  if (type === '"thinking"') return [...takeText(block, 'thinking', cut), ...takeSignature(block)]
  if (type === '"compaction"') return takeCompaction(block)
  return type?.endsWith('tool_use"') && isCalledByModel(block) ? takeInput(block, cut) : []
}

/** Returns whether the model itself calls the tool, and so streams its input; code execution sends its calls whole. */
function isCalledByModel(block: Members): boolean {
  const caller = objectOf(block.get('caller'))
  return caller === undefined || caller.get('type') === '"direct"'
}

function takeText(block: Members, field: 'text' | 'thinking', cut: Cut): string[] {
  const text = block.get(field)
  if (!isString(text)) return []
  block.set(field, '""')
  return cut(text.slice(1, -1)).map((chunk) => `{"type":"${field}_delta","${field}":"${chunk}"}`)
}

function takeSignature(block: Members): string[] {
  const signature = block.get('signature')
  if (!isString(signature) || signature === '""') return []
  block.set('signature', '""')
  return [`{"type":"signature_delta","signature":${signature}}`]
}

function takeCitations(block: Members): string[] {
  const citations = block.get('citations')
  if (!citations?.startsWith('[')) return []
  block.set('citations', '[]')
  return elementsOf(citations).map((citation) => `{"type":"citations_delta","citation":${citation}}`)
}

function takeInput(block: Members, cut: Cut): string[] {
  const input = block.get('input')
  if (input === undefined) return []
  block.set('input', '{}')
  // The first chunk of a live stream is empty, and the only one where there is no input.
  const parts = ['', ...cut(input === '{}' ? '' : input)]
  return parts.map((part) => `{"type":"input_json_delta","partial_json":${JSON.stringify(part)}}`)
}

function takeCompaction(block: Members): string[] {
  const compacted = pick(block, COMPACTED)
  for (const name of compacted.keys()) block.set(name, 'null')
  return [print(new Map([['type', '"compaction_delta"'], ...compacted]))]
}

const SHORTEST_PIECE_BYTES = 12
const LONGEST_PIECE_BYTES = 60
/**
 * A unit that is not cut where there is no space to cut at: an escape, a pair of escaped surrogates, a character in
 * UTF-8 read as latin1 with the combining marks, joiners and modifiers that follow it, a flag.
 */
const WHOLE =
  /(?:(?:\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\[^u]|\xf0\x9f\x87[\x80-\xbf]\xf0\x9f\x87[\x80-\xbf]|[\xc0-\xff][\x80-\xbf]*|[^\\\xc0-\xff])(?:\xcc[\x80-\xbf]|\xcd[\x80-\xaf]|\xef\xb8[\x80-\x8f]|\xe2\x83[\x90-\xbf]|\xf0\x9f\x8f[\xbb-\xbf]|\xe2\x80\x8d(?:[\xc0-\xff][\x80-\xbf]*)?)*){1,20}/y

/** Cuts into chunks of a few words. */
function chunks(raw: string): string[] {
  const found: string[] = []
  let space = -1
  for (let from = 0; from < raw.length; ) {
    const earliest = from + SHORTEST_PIECE_BYTES
    if (space < earliest) space = raw.indexOf(' ', earliest)
    if (space === -1) space = raw.length
    const end = space - from > LONGEST_PIECE_BYTES ? endOfWhole(raw, from) : space
    found.push(raw.slice(from, end))
    from = end
  }
  return found
}

function endOfWhole(raw: string, from: number): number {
  WHOLE.lastIndex = from
  return WHOLE.test(raw) ? WHOLE.lastIndex : raw.length
}

/** Returns whether the block reports that another model took over. */
export function isFallback(block: Members): boolean {
  return block.get('type') === '"fallback"'
}
