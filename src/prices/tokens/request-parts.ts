/**
 * DESIGN: what of a request's bytes is in the prompt.
 *
 * Purpose: text is weighed where it stands, without parsing the messages. Of a block, every string counts and every
 * other value counts as the JSON that it is, so that blocks of unknown types are counted too; only what is known not to
 * be in the prompt (ids, signatures, cache marks) is left out, and what is not text (images, PDFs) counts by its kind.
 *
 * Limits: a provider leaves the thinking of earlier turns out; so does this, by counting only that behind the last
 * message with words of the user. Blocks within blocks are looked at to a depth of four, below that they are text.
 * Never fails: what cannot be walked is text.
 */
import type { RequestDocument } from '../../core/request.ts'
import { type Child, children, type Range } from '../../core/scan.ts'
import { pdfTokens, sizeOfBase64 } from './attachments.ts'
import { hiddenPromptTokens, providerToolTokens } from './hidden-prompts.ts'
import type { ImageSize } from './image-size.ts'
import { unitsOfJson } from './text-units.ts'
import { UNITS_PER_TOKEN } from './weights.ts'

/** What an estimate is made of, whatever the model. */
export interface RequestParts {
  /** Weight of the text, in hundredths of a token before calibration. */
  units: number
  /** Tokens around messages, blocks and tools. */
  frameTokens: number
  /** Tokens that Anthropic adds. */
  hiddenTokens: number
  /** Tokens of documents. */
  documentTokens: number
  /** Sizes of images; `undefined` where unknown. */
  readonly images: (ImageSize | undefined)[]
  /** Whether the text is all that the provider counts, as far as can be seen: then its count teaches. */
  isPlain: boolean
}

const FIRST_FRAME_TOKENS = 3
const MESSAGE_TOKENS = 4
const TOOL_BLOCK_TOKENS = 28
const TOOL_TOKENS = 10
const DEEPEST_BLOCK = 4
const QUOTE = '"'

/** Members of a block that are not in the prompt. Citations are what the provider found, and free. */
const NOT_IN_PROMPT = new Set([
  'type',
  'id',
  'tool_use_id',
  'cache_control',
  'signature',
  'is_error',
  'citations',
  'caller',
])
/** Text that only the provider can read: a byte of base64 is about a fifth of a token. */
const ENCRYPTED = new Set(['encrypted_content', 'encrypted_index', 'encrypted_stdout', 'data'])
const ENCRYPTED_BYTES_PER_TOKEN = 5

/** What is in the prompt of a request. Throws `ScanError` when it is not JSON. */
export function partsOf(request: RequestDocument): RequestParts {
  return new PartsReader(request).read()
}

class PartsReader {
  readonly #request: RequestDocument
  readonly #bytes: Buffer
  /** The bytes read as latin1. */
  readonly #text: string
  readonly #parts: RequestParts = {
    units: 0,
    frameTokens: FIRST_FRAME_TOKENS,
    hiddenTokens: 0,
    documentTokens: 0,
    images: [],
    isPlain: true,
  }

  constructor(request: RequestDocument) {
    this.#request = request
    this.#bytes = request.bytes
    this.#text = request.bytes.toString('latin1')
  }

  read(): RequestParts {
    const { fields, messages } = this.#request.shape
    const parts = this.#parts
    const hasTools = this.#addTools(fields.get('tools'))
    const system = fields.get('system')
    if (system) this.#addContent(system, { depth: 0, hasThinking: false })
    const lastWords = this.#lastWordsOfUser(messages)
    messages.forEach((message, index) => {
      parts.frameTokens += MESSAGE_TOKENS
      const content = this.#childrenOf(message).find(({ key }) => key === 'content')
      if (content) this.#addContent(content, { depth: 0, hasThinking: index > lastWords })
    })
    parts.hiddenTokens += hiddenPromptTokens(this.#request, hasTools)
    this.#addOutputFormat(fields.get('output_config'))
    // What the provider adds or takes away there, its count shows and the estimate cannot.
    if (fields.has('mcp_servers') || fields.has('context_management')) parts.isPlain = false
    return parts
  }

  /** Index of the last message of the user that is more than results of tools, or -1. */
  #lastWordsOfUser(messages: readonly Range[]): number {
    for (let index = messages.length - 1; index >= 0; index--) {
      const message = messages[index]
      if (message && this.#hasWordsOfUser(message)) return index
    }
    return -1
  }

  #hasWordsOfUser(message: Range): boolean {
    const members = this.#childrenOf(message)
    const content = members.find(({ key }) => key === 'content')
    if (content === undefined || this.#stringOf(members, 'role') !== 'user') return false
    return (
      this.#text.startsWith(QUOTE, content.start) ||
      this.#childrenOf(content).some((block) => this.#stringOf(this.#childrenOf(block), 'type') !== 'tool_result')
    )
  }

  /** Whether a tool is in the prompt. Deferred ones are not, until the model has found them. */
  #addTools(tools: Range | undefined): boolean {
    let hasTools = false
    for (const tool of tools ? this.#childrenOf(tools) : []) {
      const members = this.#childrenOf(tool)
      const isDeferred = members.some(
        ({ key, start }) => key === 'defer_loading' && this.#text.startsWith('true', start),
      )
      if (isDeferred) continue
      hasTools = true
      this.#addTool(members)
    }
    return hasTools
  }

  #addTool(members: readonly Child[]): void {
    const type = this.#stringOf(members, 'type')
    if (type !== undefined && type !== 'custom') {
      this.#parts.isPlain = false
      this.#parts.hiddenTokens += providerToolTokens(type)
      return
    }
    this.#parts.frameTokens += TOOL_TOKENS
    for (const member of members) {
      if (member.key !== 'cache_control') this.#addJson(member)
    }
  }

  #addOutputFormat(output: Range | undefined): void {
    const format = output && this.#childrenOf(output).find(({ key }) => key === 'format')
    if (format) this.#addJson(format)
  }

  #addContent(content: Range, place: Place): void {
    const first = this.#text[content.start]
    if (first === '[') {
      for (const block of this.#childrenOf(content)) this.#addBlock(block, place)
    } else if (first === '{') this.#addBlock(content, place)
    else this.#addJson(content)
  }

  #addBlock(block: Range, place: Place): void {
    const members = place.depth < DEEPEST_BLOCK ? this.#childrenOf(block) : []
    // Too deep, no object, or not to be walked.
    if (members.length === 0) this.#addJson(block)
    const type = this.#stringOf(members, 'type') ?? ''
    if (type.endsWith('thinking') && !place.hasThinking) return
    if (type.endsWith('tool_use') || type.endsWith('tool_result')) this.#parts.frameTokens += TOOL_BLOCK_TOKENS
    for (const member of members) this.#addMember(member, { ...place, type })
  }

  #addMember(member: Child, { type, ...place }: Place & { type: string }): void {
    const key = member.key ?? ''
    if (NOT_IN_PROMPT.has(key)) return
    if (key === 'source') this.#addSource(member, { ...place, type })
    else if (key === 'content') this.#addContent(member, { ...place, depth: place.depth + 1 })
    else if (ENCRYPTED.has(key)) this.#addEncrypted(member)
    else this.#addJson(member)
  }

  /** What an image or a document is made from. Its members may come in any order. */
  #addSource(source: Range, { type, ...place }: Place & { type: string }): void {
    const members = this.#childrenOf(source)
    const kind = this.#stringOf(members, 'type')
    const data = members.find(({ key }) => key === 'data')
    const content = members.find(({ key }) => key === 'content')
    if (content) this.#addContent(content, { ...place, depth: place.depth + 1 })
    else if (data && kind === 'text') this.#addJson(data)
    else this.#addFile(type, this.#bytes.subarray(data ? data.start + 1 : 0, data ? data.end - 1 : 0))
  }

  /** An image, or else a document, in base64; empty when it is only named. */
  #addFile(type: string, base64: Buffer): void {
    this.#parts.isPlain = false
    if (type === 'image') this.#parts.images.push(sizeOfBase64(base64))
    else this.#parts.documentTokens += pdfTokens(base64)
  }

  #addEncrypted({ start, end }: Range): void {
    this.#parts.isPlain = false
    this.#parts.units += ((end - start) / ENCRYPTED_BYTES_PER_TOKEN) * UNITS_PER_TOKEN
  }

  /** A string's inside, or any other value as it is written. */
  #addJson({ start, end }: Range): void {
    const quote = this.#text.startsWith(QUOTE, start) ? 1 : 0
    this.#parts.units += unitsOfJson(this.#bytes, start + quote, end - quote)
  }

  /** The raw inside of a string member. */
  #stringOf(members: readonly Child[], name: string): string | undefined {
    const member = members.find(({ key }) => key === name)
    const isString = member !== undefined && this.#text.startsWith(QUOTE, member.start)
    return isString ? this.#text.slice(member.start + 1, member.end - 1) : undefined
  }

  /** The members or elements of a value; none of what has none. */
  #childrenOf({ start }: Range): Child[] {
    const first = this.#text[start]
    if (first !== '{' && first !== '[') return []
    try {
      return children(this.#text, start)
    } catch {
      return [] // a key with a wrong escape: counted as text
    }
  }
}

/** Where a block stands. */
interface Place {
  readonly depth: number
  /** Whether thinking there is still in the prompt. */
  readonly hasThinking: boolean
}
