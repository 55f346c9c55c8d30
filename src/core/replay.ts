/**
 * DESIGN — replays: a stored answer in the other of the two shapes
 *
 *   stored message ──streamOfMessage──► the events that a live stream would have had
 *   stored stream ──messageOfStream──► the message that a live JSON reply would have been
 *
 * Guarantees
 * - Nothing is parsed and printed again: values are slices of the stored bytes, so that 1.0, 2^53+1, escapes and the
 *   order of keys survive. The texts here are bytes read as latin1, as `scan.ts` has them; a slice in is a slice out.
 * - Events, their keys and the order of keys are those of recorded streams; nothing tells that the answer is stored.
 * - What cannot be converted faithfully is `undefined`, never a guess.
 * Limits: what a message does not tell is made up: one ping, pieces of a few words, `message_start` with the final input
 * counts and one output token. `estimated_tokens` of thinking deltas, a progress display, is dropped.
 */
import { children, ScanError } from './scan.ts'
import { scanEvents } from './sse.ts'

/** The members of a JSON object: decoded keys, raw values; of a repeated key the last, as JSON.parse has it. */
type Members = Map<string, string>

/** Members of a message that `message_delta` carries in `delta`; in `message_start` they are null. */
const STOP_MEMBERS = ['stop_reason', 'stop_sequence', 'stop_details']
/** Counts that both `message_start` and `message_delta` carry, in the order of the latter. */
const REPEATED_USAGE = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens']
/** Members of `usage` that only `message_delta` carries. */
const FINAL_USAGE = ['output_tokens_details', 'server_tool_use', 'iterations', 'fallback_credit']
/** Where live JSON replies have the members that a stream brings only at its end. */
const FOLLOWERS = new Map([
  ['content', ['container']],
  ['stop_sequence', ['stop_details']],
])
/** Members of a compaction block, which one delta brings as a whole. */
const COMPACTED = ['content', 'encrypted_content']
const PING = 'event: ping\ndata: {"type": "ping"}\n\n'

/**
 * The stream of events that the stored JSON message would have been. Throws `ScanError` when it is no message.
 * Source of shapes: recorded streams; for citations and compaction, the provider's SDK types.
 */
export function streamOfMessage(messageJson: Buffer | string): Buffer {
  const bytes = typeof messageJson === 'string' ? Buffer.from(messageJson) : messageJson
  const message = membersOf(bytes.toString('latin1').trim())
  const blocks = elementsOf(message.get('content') ?? '[]').map(membersOf)
  const events = [event('message_start', `,"message":${print(startOf(message, blocks))}`)]
  for (const [index, block] of blocks.entries()) {
    const at = `,"index":${index}`
    const deltas = takeDeltas(block)
    events.push(event('content_block_start', `${at},"content_block":${print(block)}`))
    if (index === 0) events.push(PING)
    for (const delta of deltas) events.push(event('content_block_delta', `${at},"delta":${delta}`))
    events.push(event('content_block_stop', at))
  }
  events.push(event('message_delta', endOf(message)), event('message_stop', ''))
  return Buffer.from(events.join(''), 'latin1')
}

/** White space is all that a line end in JSON can be; in an event it would end the data. */
const LINE_ENDS = /[\r\n]/g

function event(name: string, fields: string): string {
  return `event: ${name}\ndata: {"type":"${name}"${fields.replace(LINE_ENDS, ' ')}}\n\n`
}

/** What is known of the message before its first block. */
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

/** The fields of `message_delta`. */
function endOf(message: Members): string {
  const usage = objectOf(message.get('usage'))
  const edits = message.get('context_management')
  return [
    `,"delta":${print(pick(message, [...STOP_MEMBERS, ...(message.get('container') === 'null' ? [] : ['container'])]))}`,
    usage === undefined ? '' : `,"usage":${print(pick(usage, [...REPEATED_USAGE, ...FINAL_USAGE]))}`,
    edits === undefined ? '' : `,"context_management":${edits}`,
  ].join('')
}

/** Empties `block` to what its `content_block_start` shows, and gives the deltas that fill it again. */
function takeDeltas(block: Members): string[] {
  const type = block.get('type')
  if (type === '"text"') return [...takeCitations(block), ...takeText(block, 'text')]
  if (type === '"thinking"') return [...takeText(block, 'thinking'), ...takeSignature(block)]
  if (type === '"compaction"') return takeCompaction(block)
  return type?.endsWith('tool_use"') && isCalledByModel(block) ? takeInput(block) : []
}

/** A tool that the provider's code execution calls comes whole; the model alone writes its input bit by bit. */
function isCalledByModel(block: Members): boolean {
  const caller = objectOf(block.get('caller'))
  return caller === undefined || caller.get('type') === '"direct"'
}

function takeText(block: Members, field: 'text' | 'thinking'): string[] {
  const text = block.get(field)
  if (!isString(text)) return []
  block.set(field, '""')
  return pieces(text.slice(1, -1)).map((piece) => `{"type":"${field}_delta","${field}":"${piece}"}`)
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

function takeInput(block: Members): string[] {
  const input = block.get('input')
  if (input === undefined) return []
  block.set('input', '{}')
  // The first piece of a live stream is empty, and the only one where there is no input.
  const parts = ['', ...pieces(input === '{}' ? '' : input)]
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
 * What stays in one piece where there is no space to cut at: an escape, a pair of escaped surrogates, a character in
 * UTF-8 read as latin1 with the combining marks, joiners and modifiers that follow it, a flag.
 */
const WHOLE =
  /(?:(?:\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\[^u]|\xf0\x9f\x87[\x80-\xbf]\xf0\x9f\x87[\x80-\xbf]|[\xc0-\xff][\x80-\xbf]*|[^\\\xc0-\xff])(?:\xcc[\x80-\xbf]|\xcd[\x80-\xaf]|\xef\xb8[\x80-\x8f]|\xe2\x83[\x90-\xbf]|\xf0\x9f\x8f[\xbb-\xbf]|\xe2\x80\x8d(?:[\xc0-\xff][\x80-\xbf]*)?)*){1,20}/y

/** Cuts raw JSON, or the raw inside of a JSON string, into pieces of a few words. */
function pieces(raw: string): string[] {
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

/** Thrown for a stream of which no faithful message can be made. */
class NotConvertible extends Error {}

interface Block {
  readonly members: Members
  /** What deltas add to the end of a member, raw, by the member's name. */
  readonly tails: Map<string, string>
}

interface Assembly {
  message?: Members
  readonly blocks: Block[]
  isComplete: boolean
}

/**
 * The JSON message that the stored stream would have been, or `undefined` when the stream did not reach `message_stop`,
 * has an error event, or brings a delta that is not known well enough to be put in its place.
 */
export function messageOfStream(bytes: Buffer): Buffer | undefined {
  const assembly: Assembly = { blocks: [], isComplete: false }
  try {
    scanEvents(bytes, (name, source, start, end) => {
      const data = source.toString('latin1', start, end)
      const type = name === 'message' ? membersOf(data).get('type')?.slice(1, -1) : name
      HANDLERS.get(type ?? '')?.(assembly, data)
    })
    return assembly.isComplete ? finish(assembly) : undefined
  } catch (error) {
    if (error instanceof NotConvertible || error instanceof ScanError || error instanceof SyntaxError) return undefined
    throw error
  }
}

const HANDLERS = new Map<string, (assembly: Assembly, data: string) => void>([
  ['message_start', startMessage],
  ['content_block_start', startBlock],
  ['content_block_delta', extendBlock],
  ['message_delta', endMessage],
  ['message_stop', completeMessage],
  ['error', refuse],
])

function startMessage(assembly: Assembly, data: string): void {
  assembly.message = membersOf(need(membersOf(data), 'message'))
}

function startBlock({ blocks }: Assembly, data: string): void {
  const event = membersOf(data)
  if (Number(event.get('index')) !== blocks.length) throw new NotConvertible('a block out of order')
  blocks.push({ members: membersOf(need(event, 'content_block')), tails: new Map() })
}

/** Deltas that add text to a member of the block: the member, and the delta's own name for it. */
const EXTENDED = new Map([
  ['"text_delta"', { member: 'text', field: 'text' }],
  ['"thinking_delta"', { member: 'thinking', field: 'thinking' }],
  ['"input_json_delta"', { member: 'input', field: 'partial_json' }],
])

function extendBlock({ blocks }: Assembly, data: string): void {
  const event = membersOf(data)
  const block = blocks[Number(event.get('index'))]
  if (block === undefined) throw new NotConvertible('a delta without its block')
  const delta = membersOf(need(event, 'delta'))
  const type = delta.get('type') ?? ''
  const extended = EXTENDED.get(type)
  if (extended !== undefined) extend(block, extended.member, insideOf(delta, extended.field))
  else if (type === '"citations_delta"') extend(block, 'citations', `,${need(delta, 'citation')}`)
  else if (type === '"signature_delta"') block.members.set('signature', need(delta, 'signature'))
  else if (type === '"compaction_delta"')
    for (const [name, value] of pick(delta, COMPACTED)) block.members.set(name, value)
  else throw new NotConvertible('an unknown kind of delta')
}

function extend({ tails }: Block, name: string, tail: string): void {
  tails.set(name, (tails.get(name) ?? '') + tail)
}

function endMessage({ message }: Assembly, data: string): void {
  if (message === undefined) throw new NotConvertible('message_delta before message_start')
  for (const [name, value] of membersOf(data)) {
    if (name === 'delta') merge(message, membersOf(value))
    else if (name === 'usage')
      message.set(name, print(merge(objectOf(message.get(name)) ?? new Map(), membersOf(value))))
    else if (name !== 'type') merge(message, new Map([[name, value]]))
  }
}

/** Puts `later` over `earlier`; null leaves what is there. */
function merge(earlier: Members, later: Members): Members {
  for (const [name, value] of later) if (value !== 'null' || !earlier.has(name)) earlier.set(name, value)
  return earlier
}

function completeMessage(assembly: Assembly): void {
  assembly.isComplete = true
}

function refuse(): void {
  throw new NotConvertible('the stream has an error event')
}

function finish({ message, blocks }: Assembly): Buffer {
  if (message === undefined) throw new NotConvertible('no message_start')
  message.set('content', `[${blocks.map((block) => print(closed(block))).join(',')}]`)
  const served = objectOf(blocks.findLast(({ members }) => isFallback(members))?.members.get('to'))
  if (served !== undefined) merge(message, pick(served, ['model']))
  const ordered: Members = new Map()
  for (const [name, value] of message) {
    ordered.set(name, value)
    merge(ordered, pick(message, FOLLOWERS.get(name) ?? []))
  }
  const bytes = Buffer.from(print(ordered), 'latin1')
  JSON.parse(bytes.toString()) // the scanner does not look inside strings; broken data must not become a reply
  return bytes
}

function closed({ members, tails }: Block): Members {
  for (const [name, tail] of tails) {
    if (name === 'citations') members.set(name, `[${joined(members.get(name), tail)}]`)
    else if (name === 'input') members.set(name, inputOf(tail) ?? need(members, name))
    else members.set(name, `"${insideOf(members, name)}${tail}"`)
  }
  return members
}

function joined(list: string | undefined, tail: string): string {
  const before = list?.startsWith('[') ? list.slice(1, -1).trim() : ''
  return before === '' ? tail.slice(1) : before + tail
}

/** The raw input that the pieces of `partial_json` spell, or `undefined` when they are empty. Throws on a cut input. */
function inputOf(partialJson: string): string | undefined {
  const input: string = JSON.parse(utf8Of(`"${partialJson}"`)) // a string literal: it parses to a string
  if (input === '') return undefined
  JSON.parse(input)
  return latin1Of(input)
}

function membersOf(json: string): Members {
  if (!json.startsWith('{')) throw new ScanError('expected an object', 0)
  return new Map(children(json, 0).map(({ key = '', start, end }) => [key, json.slice(start, end)]))
}

function objectOf(json: string | undefined): Members | undefined {
  return json?.startsWith('{') ? membersOf(json) : undefined
}

function elementsOf(json: string): string[] {
  if (!json.startsWith('[')) throw new ScanError('expected an array', 0)
  return children(json, 0).map(({ start, end }) => json.slice(start, end))
}

function print(members: Members): string {
  return `{${Array.from(members, ([key, value]) => `${latin1Of(JSON.stringify(key))}:${value}`).join(',')}}`
}

function pick(members: Members, names: readonly string[]): Members {
  const picked: Members = new Map()
  for (const name of names) {
    const value = members.get(name)
    if (value !== undefined) picked.set(name, value)
  }
  return picked
}

function need(members: Members, name: string): string {
  const value = members.get(name)
  if (value === undefined) throw new NotConvertible(`no ${name}`)
  return value
}

function insideOf(members: Members, name: string): string {
  const text = members.get(name)
  if (!isString(text)) throw new NotConvertible(`${name} is no string`)
  return text.slice(1, -1)
}

function isString(json: string | undefined): json is string {
  return json?.startsWith('"') === true
}

function isFallback(block: Members): boolean {
  return block.get('type') === '"fallback"'
}

function latin1Of(text: string): string {
  return Buffer.from(text).toString('latin1')
}

function utf8Of(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString()
}
