import type { AnswerPart } from './piece.ts'
import { toCarrier } from './signatures.ts'

type Filled = 'text' | 'thinking'

const START: Readonly<Record<Filled, string>> = {
  text: '{"type":"text","text":""}',
  thinking: '{"type":"thinking","thinking":"","signature":""}',
}
/** A call id that every provider accepts, should the conversation continue with another: OpenAI's limit is 40 characters. */
const VALID_ID = /^[\w-]{1,40}$/
/** Leaves room for `toolu_` and a number of three digits within 40 characters. */
const SEED_LENGTH = 30

/** Prints one Messages event; `fields` is raw JSON that begins with a comma, or ''. */
export function printRawEvent(name: string, fields: string): string {
  return `event: ${name}\ndata: {"type":"${name}"${fields}}\n\n`
}

/** Converts the parts of a reply into the events of its content blocks. Raw JSON in and out. */
export class BlockEvents {
  readonly #seed: string
  readonly #ids = new Set<string>()
  #index = 0
  #open: Filled | undefined

  /** `id` seeds the ids of calls without one: as unique as `id`, and deterministic. */
  constructor(id: string) {
    this.#seed = id.replace(/[^\w-]/g, '').slice(-SEED_LENGTH)
  }

  /** True once there was a call. */
  get hasCalls(): boolean {
    return this.#ids.size > 0
  }

  /** Returns the events of one part. */
  add(part: AnswerPart): string {
    switch (part.kind) {
      case 'text':
        return this.#fill('text', part.text) + this.#sign(part.signature && toCarrier(part.signature, 'text'))
      case 'thought':
        return this.#fill('thinking', part.text) + this.#sign(part.signature && toCarrier(part.signature, 'call'))
      case 'call':
        return this.#sign(part.signature && toCarrier(part.signature, 'call')) + this.close() + this.#call(part)
      default:
        return part satisfies never
    }
  }

  /** Closes the open block, if any. */
  close(): string {
    if (this.#open === undefined) return ''
    this.#open = undefined
    return printRawEvent('content_block_stop', `,"index":${this.#index++}`)
  }

  #start(kind: Filled): string {
    if (this.#open === kind) return ''
    const closed = this.close()
    this.#open = kind
    return closed + printRawEvent('content_block_start', `,"index":${this.#index},"content_block":${START[kind]}`)
  }

  #fill(kind: Filled, text: string): string {
    if (text === '""') return ''
    return this.#start(kind) + this.#delta(`{"type":"${kind}_delta","${kind}":${text}}`)
  }

  /** Attaches a carrier of a signature to the open thinking block, or else to a block of its own. */
  #sign(carrier: string | undefined): string {
    if (carrier === undefined) return ''
    const delta = `{"type":"signature_delta","signature":${carrier}}`
    return this.#start('thinking') + this.#delta(delta) + this.close()
  }

  #call({ id, name, args }: AnswerPart & { kind: 'call' }): string {
    const block = `{"type":"tool_use","id":"${this.#idOf(id)}","name":${name},"input":{}}`
    const input = args === '{}' ? '""' : JSON.stringify(args)
    const events = [
      printRawEvent('content_block_start', `,"index":${this.#index},"content_block":${block}`),
      this.#delta(`{"type":"input_json_delta","partial_json":${input}}`),
      printRawEvent('content_block_stop', `,"index":${this.#index}`),
    ]
    this.#index++
    return events.join('')
  }

  #delta(delta: string): string {
    return printRawEvent('content_block_delta', `,"index":${this.#index},"delta":${delta}`)
  }

  /** Returns Gemini's own id where Messages providers accept it and no other call has it. */
  #idOf(given: string | undefined): string {
    const isUsable = given !== undefined && VALID_ID.test(given) && !this.#ids.has(given)
    const id = isUsable ? given : `toolu_${this.#seed}_${this.#ids.size}`
    this.#ids.add(id)
    return id
  }
}
