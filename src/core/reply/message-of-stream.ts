import {
  insideOf,
  latin1Of,
  type Members,
  membersOf,
  merge,
  NotConvertible,
  need,
  objectOf,
  pick,
  print,
  utf8Of,
} from '../json/raw-json.ts'
import { ScanError } from '../json/scan.ts'
import { scanEvents } from './sse.ts'
import { startedBlocks } from './started-blocks.ts'
import { COMPACTED, isFallback } from './stream-of-message.ts'

/** The place in live JSON replies of members that a stream sends only at its end. */
const FOLLOWERS = new Map([
  ['content', ['container']],
  ['stop_sequence', ['stop_details']],
])

interface Block {
  readonly members: Members
  /** Texts that deltas append to a member, raw, by the member's name. */
  readonly tails: Map<string, string>
}

interface Assembly {
  message?: Members
  readonly blocks: Block[]
  isComplete: boolean
}

/**
 * Converts a stored stream into the JSON message that it would have been; `undefined` when the stream did not reach
 * `message_stop`, has an error event, or has a delta whose place in the message is not known.
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
  const message = membersOf(need(membersOf(data), 'message'))
  assembly.message = message
  assembly.blocks.push(...startedBlocks(message).map((block) => ({ members: membersOf(block), tails: new Map() })))
}

function startBlock({ blocks }: Assembly, data: string): void {
  const event = membersOf(data)
  if (Number(event.get('index')) !== blocks.length) throw new NotConvertible('a block out of order')
  blocks.push({ members: membersOf(need(event, 'content_block')), tails: new Map() })
}

/** Deltas that append text to a member of the block: the member, and the delta's own name for it. */
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

/** Returns the raw input that the chunks of `partial_json` spell; `undefined` for an empty one. Throws for a cut input. */
function inputOf(partialJson: string): string | undefined {
  const input: string = JSON.parse(utf8Of(`"${partialJson}"`)) // a string literal: it parses to a string
  if (input === '') return undefined
  JSON.parse(input)
  return latin1Of(input)
}
