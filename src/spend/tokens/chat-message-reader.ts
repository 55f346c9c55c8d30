import type { Child, Range } from '../../core/json/scan.ts'
import { addAudio, addReference, addUri } from './media.ts'
import { createRules, onlyMember, onlyString, type Weigher } from './weigher.ts'

const MESSAGE_TOKENS = 4
const CALL_TOKENS = 28

const MESSAGE = createRules({
  mark: ['role', 'tool_call_id', 'cache_control'],
  text: [
    ...['content', 'name', 'refusal', 'reasoning_content', 'reasoning', 'reasoning_details'],
    ...['tool_calls', 'function_call', 'audio'],
  ],
})
const CALL = createRules({ mark: ['id', 'type', 'index'], text: ['function'] })
const CALLED = createRules({ text: ['name', 'arguments'] })
const PART = createRules({
  mark: ['type', 'cache_control'],
  text: ['text', 'refusal', 'image_url', 'file', 'input_audio'],
})
/** Members of parts that are nested objects with media. */
const CARRIERS = new Set(['image_url', 'file', 'input_audio'])
const CARRIED = createRules({ mark: ['detail', 'format'], text: ['url', 'filename', 'file_data', 'file_id', 'data'] })
const MEDIA = new Map<string, (weigher: Weigher, value: Range) => void>([
  ['image_url.url', (weigher, url) => addUri(weigher, url, 'image')],
  ['file.file_data', (weigher, uri) => addUri(weigher, uri, 'document')],
  ['file.file_id', (weigher, id) => addReference(weigher, id, 'document')],
  ['input_audio.data', addAudio],
])

/** Adds up messages of chat completions. */
export class ChatMessageReader {
  readonly #weigher: Weigher

  constructor(weigher: Weigher) {
    this.#weigher = weigher
  }

  /** Adds a message. */
  add(message: Range): void {
    this.#weigher.parts.frameTokens += MESSAGE_TOKENS
    this.#weigher.addMembers(message, (member) => this.#addMember(member))
  }

  #addMember(member: Child): void {
    const weigher = this.#weigher
    switch (member.key) {
      case 'content':
        this.#weigher.addEach(member, (part) => this.#addPart(part))
        break
      case 'tool_calls':
        this.#weigher.addEach(member, (call) => this.#addCall(call))
        break
      case 'function_call':
        weigher.parts.frameTokens += CALL_TOKENS
        this.#weigher.addMembers(member, (each) => weigher.addMember(each, CALLED))
        break
      case 'audio':
        // The audio of an earlier answer, by its id: of unknown length.
        addReference(weigher, member, 'audio')
        break
      default:
        weigher.addMember(member, MESSAGE)
    }
  }

  #addCall(call: Range): void {
    const weigher = this.#weigher
    weigher.parts.frameTokens += CALL_TOKENS
    this.#weigher.addMembers(call, (member) => {
      if (member.key === 'function') this.#weigher.addMembers(member, (each) => weigher.addMember(each, CALLED))
      else weigher.addMember(member, CALL)
    })
  }

  /** Adds a part. A part that two readers could take for different ones counts as text. */
  #addPart(part: Range): void {
    const weigher = this.#weigher
    weigher.addMembers(part, (member, members) => {
      const { key = '' } = member
      const isCarrier = CARRIERS.has(key) && onlyMember(members, key, PART) === member
      if (!isCarrier || weigher.stringOf(onlyMember(members, 'type', PART)) !== key) weigher.addMember(member, PART)
      // Some servers accept the address of an image without an object around it.
      else if (key === 'image_url' && weigher.isString(member)) addUri(weigher, member, 'image')
      else this.#addCarrier(member)
    })
  }

  #addCarrier(carrier: Child): void {
    const weigher = this.#weigher
    weigher.addMembers(carrier, (member, members) => {
      const { key = '' } = member
      const add = MEDIA.get(`${carrier.key}.${key}`)
      if (add && onlyString(weigher, members, key, CARRIED) === member) add(weigher, member)
      else weigher.addMember(member, CARRIED)
    })
  }
}
