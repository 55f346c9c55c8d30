/**
 * DESIGN: a Messages conversation as Gemini's `contents`.
 *
 *     messages ──blocks──► parts ──► turns (neighbours of one role merged) ──► signatures ──► contents
 *                 └─ role system ──► systemInstruction
 *
 * Guarantees: texts, tool inputs and data are slices of the client's bytes. Roles alternate; in a user's turn the
 * function responses come first. Dropped content is in `droppedFields`.
 * Limits: Gemini has no instructions in the middle of a conversation, so they move to the front, and are reported as
 * `messages.role`. Empty turns are removed, and before a conversation that begins with the model there is a user's turn.
 */
import { elementsOf, isString, type Members, membersOf } from '../../core/json/raw-json.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { dropOthers, given, printGiven, type Translation, textOf } from './raw-fields.ts'
import { nameOf, type Part, type Place, printPart, toParts, toTexts } from './request-parts.ts'
import { toToolResult } from './request-tool-result.ts'
import { fromCarrier, SKIP_VALIDATION } from './signatures.ts'

/** Raw JSON of the contents, and of the parts of the system instruction. */
export interface Conversation {
  readonly contents: readonly string[]
  readonly system: readonly string[]
}

type Role = 'user' | 'model'

interface Turn {
  readonly role: Role
  readonly responses: Part[]
  readonly parts: Part[]
  /** Signature of a carrier whose part has not come yet. */
  awaited?: string | undefined
}

interface Walk extends Translation {
  readonly turns: Turn[]
  readonly system: Part[]
  /** Raw names of the tools by the ids of their calls. */
  readonly names: Map<string, string>
}

const KNOWN_MESSAGE = new Set(['role', 'content'])
const KNOWN_CALL = new Set(['type', 'id', 'name', 'input'])
const FIELD = 'messages.content'
/** Text of the user's turn that a conversation may lack, as JSON: Gemini refuses an empty one. */
const BEGINNING = '"."'

/** Translates `system` and `messages`. */
export function toConversation(request: RequestDocument, translation: Translation): Conversation {
  const walk: Walk = { ...translation, turns: [], system: [], names: new Map() }
  const system = request.raw('system')?.toString('latin1')
  addSystem(system, { path: 'system', field: 'system' }, walk)
  const messages = request.shape.messages.map(({ start, end }) => request.bytes.toString('latin1', start, end))
  for (const [index, message] of messages.entries()) addMessage(membersOf(message), index, walk)
  const turns = begunByUser(walk.turns.filter(({ responses, parts }) => responses.length + parts.length > 0))
  if (translation.traits.hasThinkingLevels) signUnsigned(turns)
  return { contents: turns.map(printTurn), system: walk.system.map(printPart) }
}

function addSystem(content: string | undefined, place: Place, walk: Walk): void {
  if (content === undefined || content === 'null') return
  if (isString(content)) addAll(walk.system, toTexts(content))
  else {
    for (const [index, block] of elementsOf(content).entries()) {
      const members = membersOf(block)
      const at = { path: `${place.path}[${index}]`, field: place.field }
      if (textOf(members.get('type')) === 'text') addAll(walk.system, toParts(members, at, walk))
      else
        walk.droppedFields.refuse(
          at.path,
          'Gemini takes only text as instructions of the system; send it in a user message',
        )
    }
  }
}

function addMessage(message: Members, index: number, walk: Walk): void {
  dropOthers(message, KNOWN_MESSAGE, { droppedFields: walk.droppedFields, prefix: 'messages.' })
  const place = { path: `messages[${index}].content`, field: FIELD }
  const content = message.get('content') ?? ''
  const role = textOf(message.get('role'))
  if (role === 'system') {
    if (walk.turns.length > 0) walk.droppedFields.drop('messages.role')
    addSystem(content, place, walk)
    return
  }
  const turn = turnOf(role === 'assistant' ? 'model' : 'user', walk.turns)
  if (isString(content)) addAll(turn.parts, toTexts(content))
  else {
    for (const [position, block] of elementsOf(content).entries()) {
      addBlock(membersOf(block), { turn, place: { path: `${place.path}[${position}]`, field: FIELD } }, walk)
    }
  }
}

/** Returns the current turn, or a new one when the role changes. */
function turnOf(role: Role, turns: Turn[]): Turn {
  const isEmpty = ({ responses, parts }: Turn) => responses.length + parts.length === 0
  // An empty turn must not separate the content before and after it.
  while (turns.length > 0 && turns.at(-1)?.role !== role && turns.slice(-1).every(isEmpty)) turns.pop()
  const last = turns.at(-1)
  if (last?.role === role) return last
  const turn: Turn = { role, responses: [], parts: [] }
  turns.push(turn)
  return turn
}

interface Spot {
  readonly turn: Turn
  readonly place: Place
}

function addBlock(block: Members, { turn, place }: Spot, walk: Walk): void {
  const type = textOf(block.get('type'))
  const isModel = turn.role === 'model'
  if (isModel && type === 'tool_use') addCall(block, turn, walk)
  else if (isModel && type === 'thinking') addCarrier(block, turn, walk)
  else if (isModel && type === 'redacted_thinking') walk.droppedFields.drop(`${FIELD}.redacted_thinking`)
  else if (!isModel && type === 'tool_result') addResult(block, { turn, place }, walk)
  else if (type === 'text' && isModel) addText(block, { turn, place }, walk)
  else if (!isModel) addAll(turn.parts, toParts(block, place, walk))
  else
    walk.droppedFields.refuse(place.path, `Gemini has no equivalent of a block of type ${nameOf(type)} here; remove it`)
}

/** Adds parts one by one: an argument list is limited to some 100,000. */
function addAll(parts: Part[], added: readonly Part[]): void {
  for (const part of added) parts.push(part)
}

function addText(block: Members, { turn, place }: Spot, walk: Walk): void {
  for (const part of toParts(block, place, walk)) turn.parts.push(signed(part, turn))
}

/** Returns the part with the signature that waits for it. */
function signed(part: Part, turn: Turn): Part {
  if (turn.awaited !== undefined && (part.kind === 'text' || part.kind === 'call')) part.signature = turn.awaited
  turn.awaited = undefined
  return part
}

function addCall(block: Members, turn: Turn, { droppedFields, names }: Walk): void {
  dropOthers(block, KNOWN_CALL, { droppedFields, prefix: `${FIELD}.` })
  const id = block.get('id')
  const name = block.get('name') ?? '""'
  names.set(textOf(id) ?? '', name)
  const call = printGiven({ id, name, args: block.get('input') })
  turn.parts.push(signed({ kind: 'call', call }, turn))
}

function addCarrier(block: Members, turn: Turn, { droppedFields }: Walk): void {
  const carried = fromCarrier(given(block, 'signature'))
  if (carried === undefined) droppedFields.drop(`${FIELD}.thinking`)
  else if (carried.signed === 'call') turn.awaited = carried.signature
  else {
    const last = turn.parts.at(-1)
    // A signature that came without a text is returned the same way.
    if (last?.kind === 'text' && last.signature === undefined) last.signature = carried.signature
    else turn.parts.push({ kind: 'text', text: '""', signature: carried.signature })
  }
}

function addResult(block: Members, { turn, place }: Spot, walk: Walk): void {
  const result = toToolResult(block, place, walk)
  if (result === undefined) return
  turn.responses.push(result.response)
  addAll(turn.parts, result.others)
}

/** Puts a turn of the user before a first turn of the model, which Gemini refuses. */
function begunByUser(turns: Turn[]): readonly Turn[] {
  if (turns[0]?.role !== 'model') return turns
  return [{ role: 'user', responses: [], parts: [{ kind: 'text', text: BEGINNING }] }, ...turns]
}

/**
 * Marks the first call of each step of the current turn that has no signature. The turn begins with the user's last
 * message that is no response; the provider checks nothing before it (Gemini API, "Thought signatures").
 */
function signUnsigned(turns: readonly Turn[]): void {
  const start = turns.findLastIndex(({ role, responses }) => role === 'user' && responses.length === 0)
  for (const { parts } of turns.slice(start + 1)) {
    const first = parts.find(({ kind }) => kind === 'call')
    if (first?.kind === 'call') first.signature ??= SKIP_VALIDATION
  }
}

function printTurn({ role, responses, parts }: Turn): string {
  return printGiven({ role: `"${role}"`, parts: `[${[...responses, ...parts].map(printPart).join(',')}]` })
}
