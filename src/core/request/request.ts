import { readJson } from '../json/json-error.ts'
import { parseJson } from '../json/parse-json.ts'
import { children, type Range, type RequestShape, scanRequest } from '../json/scan.ts'
import { applyEdits, type Edit, type Path } from '../json/splice.ts'
import type { Message } from './message.ts'

/**
 * A model request in the canonical Messages shape: its raw bytes, the byte ranges of its fields, and values parsed on first
 * use. Immutable: `edited` returns a new document in which only the edited ranges differ.
 */
export class RequestDocument {
  readonly bytes: Buffer
  #shape: RequestShape | undefined
  #values: Map<string, unknown> | undefined
  /** Elements of `messages` that were read one by one. */
  #messages: Message[] | undefined

  /** `known` are values of fields, `undefined` for absent ones, which a translation has already and need not be parsed. */
  constructor(bytes: Buffer, shape?: RequestShape, known?: Readonly<Record<string, unknown>>) {
    this.bytes = bytes
    this.#shape = shape
    if (known !== undefined) this.#values = new Map(Object.entries(known))
  }

  /** Byte ranges of the top-level fields, from one scan. */
  get shape(): RequestShape {
    this.#shape ??= scanRequest(this.bytes)
    return this.#shape
  }

  get model(): string {
    return String(this.field('model'))
  }

  get stream(): boolean {
    return this.field('stream') === true
  }

  get maxTokens(): number {
    return Number(this.field('max_tokens'))
  }

  get messages(): readonly Message[] {
    // Checked against the schema when the request was received.
    return this.field('messages') as readonly Message[]
  }

  /**
   * Returns one element of `messages`, parsed once, also if all are read later; a long history need not be parsed for its
   * first or last one. Not to be changed. Throws a `RangeError` when there is none.
   */
  message(index: number): Message {
    const raw = this.#slice(this.shape.messages[index])
    if (raw === undefined) throw new RangeError(`no message ${index} of ${this.shape.messages.length}`)
    const all = this.#values?.get('messages')
    // Checked against the schema when the request was received.
    if (Array.isArray(all)) return all[index] as Message
    this.#messages ??= []
    this.#messages[index] ??= this.#parse(raw) as Message
    return this.#messages[index]
  }

  /**
   * Returns the value of a top-level field, parsed once; `undefined` when absent. Not to be changed: use `exchange.edit`.
   * Throws `invalid_request` for a wrong escape, which the scan of a large body has not seen.
   */
  field(name: string): unknown {
    this.#values ??= new Map()
    if (this.#values.has(name)) return this.#values.get(name)
    const value =
      name === 'messages' && this.#messages !== undefined ? this.#allMessages() : this.#parse(this.raw(name))
    this.#values.set(name, value)
    return value
  }

  #parse(raw: Buffer | undefined): unknown {
    return raw && readJson(this.bytes, () => parseJson(raw.toString()))
  }

  #allMessages(): readonly Message[] {
    const all = this.shape.messages.map((_, index) => this.message(index))
    this.#messages = undefined
    return all
  }

  /** Returns the bytes of a top-level field's value, as the client wrote them; `undefined` when absent. */
  raw(name: string): Buffer | undefined {
    return this.#slice(this.shape.fields.get(name))
  }

  /**
   * Returns the bytes of the value at this path, as the client wrote them, for example to edit them into another place.
   * `undefined` when it does not exist.
   */
  rawAt([name = '', ...steps]: Path): Buffer | undefined {
    let raw = this.raw(String(name))
    for (const [depth, step] of steps.entries()) {
      const isMessage = depth === 0 && name === 'messages'
      // The places of messages are known: a long history is not scanned again.
      if (isMessage) raw = this.#slice(this.shape.messages[Number(step)])
      else raw = raw && childOf(raw, step)
    }
    return raw
  }

  #slice(range: Range | undefined): Buffer | undefined {
    return range && this.bytes.subarray(range.start, range.end)
  }

  /**
   * Memoises a result about the bytes: `compute` runs once for this document and for every later one of the same bytes,
   * from any client. The result must not depend on anything else, nor be changed.
   */
  memo<Value>(key: symbol, compute: (request: RequestDocument) => Value): Value {
    this.shape.memos ??= new Map()
    const { memos } = this.shape
    // The value under a key comes from the `compute` that belongs to the key.
    if (memos.has(key)) return memos.get(key) as Value
    const value = compute(this)
    memos.set(key, value)
    return value
  }

  /** Returns true when `memo` has a result under this key. */
  hasMemo(key: symbol): boolean {
    return this.shape.memos?.has(key) === true
  }

  /** Returns a new document with these edits spliced in. Throws when a path does not exist or two edits overlap. */
  edited(edits: readonly Edit[]): RequestDocument {
    return new RequestDocument(applyEdits(this.bytes, [...edits]))
  }
}

const OPEN_BRACE = '{'.charCodeAt(0)
const OPEN_BRACKET = '['.charCodeAt(0)

function childOf(raw: Buffer, step: string | number): Buffer | undefined {
  if (raw[0] !== OPEN_BRACE && raw[0] !== OPEN_BRACKET) return undefined
  const child = children(raw.toString('latin1'), 0).find(({ key }, index) => (key ?? index) === step)
  return child && raw.subarray(child.start, child.end)
}
