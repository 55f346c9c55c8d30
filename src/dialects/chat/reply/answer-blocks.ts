/**
 * DESIGN: the content blocks of a Messages stream, from pieces in any order
 *
 *   pieces of text, thinking, calls ──► live block ──► content_block_start, _delta … _stop
 *                               └─────► waiting blocks, in the order in which they began
 *
 * Purpose: the Messages shape has one block open at a time, and a closed block stays closed; a chat stream may
 * interleave several tool calls.
 * Guarantees: the live block's pieces pass through at once. A block of text or thinking ends when another begins; a call
 * ends when its arguments are a complete object. Until then pieces of other blocks wait, and are emitted whole and in order.
 * Limits: at most `MAX_HELD_CHARACTERS` wait. Beyond that, or when a call continues after its end, `problem` is set and
 * the stream can no longer be represented.
 */
import { ObjectProgress } from './object-progress.ts'
import { type CallPiece, callIdOf, inputOf, NAMELESS } from './tool-calls.ts'

interface Prose {
  readonly kind: 'text' | 'thinking'
  held: string
  /** Signature with which a block of thinking ends. */
  signature?: string
}

interface Call {
  readonly kind: 'call'
  /** Its index among the calls. */
  readonly number: number
  id: string
  name: string
  /** Arguments not yet emitted. */
  held: string
  readonly progress: ObjectProgress
  isStarted: boolean
  isClosed: boolean
}

type Block = Prose | Call

const MAX_HELD_CHARACTERS = 16 * 1024 * 1024
const DELTA_END = '}}\n\n'
const PROSE = {
  text: { empty: '{"type":"text","text":""}', delta: '{"type":"text_delta","text":' },
  thinking: {
    empty: '{"type":"thinking","thinking":"","signature":""}',
    delta: '{"type":"thinking_delta","thinking":',
  },
} as const
const INPUT_DELTA = '{"type":"input_json_delta","partial_json":'

/** Writes the blocks of one answer. Each method returns the events to emit, or ''. */
export class AnswerBlocks {
  readonly #messageId: string
  #index = -1
  #live: Block | undefined
  /** Prefix of a delta of the live block. */
  #delta = ''
  #waiting: Block[] = []
  #heldCharacters = 0
  readonly #calls: Call[] = []
  readonly #callsByIndex = new Map<number, Call>()
  #problem: string | undefined

  /** `messageId` seeds the ids of calls without one. */
  constructor(messageId: string) {
    this.#messageId = messageId
  }

  /** Reason why the stream cannot be represented, once there is one. */
  get problem(): string | undefined {
    return this.#problem
  }

  get hasCalls(): boolean {
    return this.#calls.length > 0
  }

  /** Adds a non-empty piece of text or thinking. */
  prose(kind: Prose['kind'], piece: string): string {
    if (this.#live?.kind === kind && this.#live.signature === undefined) return this.#deltaOf(piece)
    this.#count(piece.length)
    if (!this.#isLiveUnfinished()) return this.#close() + this.#enter({ kind, held: piece })
    const last = this.#waiting.at(-1)
    if (last?.kind === kind && last.signature === undefined) last.held += piece
    else this.#waiting.push({ kind, held: piece })
    return ''
  }

  /** Adds a piece of a call, the first or a later one. */
  call(piece: CallPiece): string {
    const found = this.#find(piece)
    const call = found ?? this.#begin(piece)
    if (call.isClosed) return this.#takeLate(piece.arguments)
    call.id ||= piece.id
    call.name ||= piece.name
    call.held += piece.arguments
    call.progress.take(piece.arguments)
    this.#count(piece.arguments.length)
    if (call.progress.state === 'excess') this.#problem = 'the arguments of a tool call went on after their end'
    if (call === this.#live) return this.#release(call) + this.#advance()
    if (found !== undefined) return ''
    if (!this.#isLiveUnfinished()) return this.#close() + this.#enter(call)
    this.#waiting.push(call)
    return ''
  }

  /** Ends a block of thinking with its signature; one without text begins here. */
  seal(signature: string): string {
    const last = this.#waiting.at(-1) ?? this.#live
    const open = last?.kind === 'thinking' && last.signature === undefined ? last : undefined
    const block: Prose = open ?? { kind: 'thinking', held: '' }
    block.signature = signature
    if (open !== undefined) return ''
    if (!this.#isLiveUnfinished()) return this.#close() + this.#enter(block)
    this.#waiting.push(block)
    return ''
  }

  /** Closes the open block, after all waiting blocks were emitted. */
  finish(): string {
    let events = this.#close()
    for (const block of this.#waiting.splice(0)) events += this.#enter(block) + this.#close()
    return events
  }

  /**
   * Finds the call that a piece continues. Gemini's streams give several calls the same index, or none: a piece with a name
   * and another id, or with a name and no id after a complete call, begins a new one.
   */
  #find(piece: CallPiece): Call | undefined {
    const { index, id, name } = piece
    const call = index === undefined ? this.#findById(id, name !== '') : this.#callsByIndex.get(index)
    if (call === undefined || name === '') return call
    const isAnother = id === '' ? isAfter(call, piece) : call.id !== '' && call.id !== id
    return isAnother ? undefined : call
  }

  #findById(id: string, isHead: boolean): Call | undefined {
    const known = id === '' ? undefined : this.#calls.find((call) => call.id === id)
    return known ?? (isHead ? undefined : this.#calls.at(-1))
  }

  #begin({ index, id, name }: CallPiece): Call {
    const progress = new ObjectProgress()
    const number = this.#calls.length
    const call: Call = { kind: 'call', number, id, name, held: '', progress, isStarted: false, isClosed: false }
    this.#calls.push(call)
    if (index !== undefined) this.#callsByIndex.set(index, call)
    return call
  }

  /** Accepts late text of a closed call: only white space is valid. */
  #takeLate(text: string): string {
    if (text.trim() !== '') this.#problem = 'the arguments of a tool call went on after their end'
    return ''
  }

  #isLiveUnfinished(): boolean {
    return this.#live?.kind === 'call' && this.#live.progress.state !== 'whole'
  }

  /** Closes the live call when it is complete and others wait for it; the last call that can be emitted becomes live. */
  #advance(): string {
    let events = ''
    while (this.#waiting.length > 0 && !this.#isLiveUnfinished()) {
      const next = this.#waiting.shift()
      if (next !== undefined) events += this.#close() + this.#enter(next)
    }
    return events
  }

  #enter(block: Block): string {
    this.#live = block
    this.#index++
    this.#delta = deltaOf(this.#index, block.kind === 'call' ? INPUT_DELTA : PROSE[block.kind].delta)
    if (block.kind === 'call') return this.#release(block)
    return startOf(this.#index, PROSE[block.kind].empty) + this.#deltaOfHeld(block)
  }

  /**
   * Emits the live call's buffered pieces. A call begins with its name, and arguments that are no object are kept until the
   * end: they can only be converted as a whole.
   */
  #release(call: Call): string {
    if (!call.isStarted && call.name === '') return ''
    const { state } = call.progress
    const begun = this.#start(call)
    return state === 'inside' || state === 'whole' ? begun + this.#deltaOfHeld(call) : begun
  }

  #start(call: Call): string {
    if (call.isStarted) return ''
    call.isStarted = true
    const id = JSON.stringify(call.id || callIdOf(this.#messageId, call.number))
    const name = JSON.stringify(call.name || NAMELESS)
    return startOf(this.#index, `{"type":"tool_use","id":${id},"name":${name},"input":{}}`)
  }

  #close(): string {
    const block = this.#live
    if (block === undefined) return ''
    this.#live = undefined
    const stop = `event: content_block_stop\ndata: {"type":"content_block_stop","index":${this.#index}}\n\n`
    if (block.kind === 'call') return this.#endCall(block) + stop
    const signature = block.signature ? this.#signatureOf(block.signature) : ''
    return signature + stop
  }

  #signatureOf(signature: string): string {
    return deltaOf(this.#index, '{"type":"signature_delta","signature":') + JSON.stringify(signature) + DELTA_END
  }

  #endCall(call: Call): string {
    call.isClosed = true
    const begun = this.#start(call)
    const { state } = call.progress
    const held = this.#take(call)
    const input = state === 'blank' || state === 'other' ? inputOf(held) : held
    return input === '' || input === '{}' ? begun : begun + this.#deltaOf(input)
  }

  #deltaOfHeld(block: Block): string {
    return block.held === '' ? '' : this.#deltaOf(this.#take(block))
  }

  #deltaOf(piece: string): string {
    return this.#delta + JSON.stringify(piece) + DELTA_END
  }

  #take(block: Block): string {
    const { held } = block
    this.#heldCharacters -= held.length
    block.held = ''
    return held
  }

  #count(characters: number): void {
    this.#heldCharacters += characters
    if (this.#heldCharacters > MAX_HELD_CHARACTERS)
      this.#problem = 'too many tool call bytes wait for a call that does not end'
  }
}

function isAfter(call: Call, piece: CallPiece): boolean {
  return call.progress.state === 'whole' && piece.arguments.trim() !== ''
}

function startOf(index: number, block: string): string {
  return `event: content_block_start\ndata: {"type":"content_block_start","index":${index},"content_block":${block}}\n\n`
}

function deltaOf(index: number, delta: string): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${delta}`
}
