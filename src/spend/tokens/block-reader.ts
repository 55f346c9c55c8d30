import type { Child, Range } from '../../core/json/scan.ts'
import { addImage, addPdf, addReference } from './media.ts'
import { createRules, onlyMember, onlyString, type Weigher } from './weigher.ts'

const TOOL_BLOCK_TOKENS = 28
const DEEPEST_BLOCK = 4

/** Members of blocks, whatever their type. Members of other names count with their names. */
const BLOCK = createRules({
  mark: ['type', 'id', 'tool_use_id', 'cache_control', 'is_error', 'caller'],
  text: [
    ...['text', 'thinking', 'input', 'name', 'content', 'source', 'title', 'context', 'url', 'page_age', 'server_name'],
    ...['stdout', 'stderr', 'return_code', 'file_id', 'retrieved_at', 'error_code', 'tool_name', 'signature', 'data'],
  ],
})
/** Blocks whose citations come from the provider, and are free (Claude API, "Citations"). */
const CITED = new Set(['text', 'document', 'search_result'])
/** Encrypted members that only the provider can read, by the one type of block that has them. */
const ENCRYPTED = new Map([
  ['data', 'redacted_thinking'],
  ['encrypted_content', 'web_search_result'],
  ['encrypted_stdout', 'encrypted_code_execution_result'],
])

/** Members of the source of an image or a document. */
const SOURCE = createRules({ mark: ['type', 'media_type'], text: ['data', 'content', 'url', 'file_id'] })

/** Position of a block. */
export interface Place {
  readonly depth: number
  /** True when the user's last text is in a later message. */
  readonly isEarlier: boolean
}

/** Adds up blocks of Messages content. */
export class BlockReader {
  readonly #weigher: Weigher

  constructor(weigher: Weigher) {
    this.#weigher = weigher
  }

  /** Adds content: a string, a block or a list of blocks. */
  addContent(content: Range, place: Place): void {
    const weigher = this.#weigher
    if (weigher.isArray(content)) for (const block of weigher.childrenOf(content)) this.#addBlock(block, place)
    else if (!weigher.isString(content)) this.#addBlock(content, place)
    else weigher.add(content)
  }

  /** Returns true when content certainly has a block that is no tool result. */
  hasMoreThanResults(content: Range): boolean {
    const weigher = this.#weigher
    if (!weigher.isArray(content)) return weigher.text[content.start] === '"'
    return weigher.childrenOf(content).some((block) => {
      const type = this.#typeOf(weigher.childrenOf(block))
      return type !== undefined && !isOfTool(type)
    })
  }

  #typeOf(members: readonly Child[]): string | undefined {
    return this.#weigher.stringOf(onlyMember(members, 'type', BLOCK))
  }

  #addBlock(block: Range, place: Place): void {
    const weigher = this.#weigher
    const members = place.depth < DEEPEST_BLOCK ? weigher.childrenOf(block) : []
    // Too deep, no object, or unreadable.
    if (members.length === 0) weigher.add(block)
    const type = this.#typeOf(members) ?? ''
    if (isOfTool(type)) weigher.parts.frameTokens += TOOL_BLOCK_TOKENS
    if (type === 'thinking' || type === 'redacted_thinking') this.#addThinking(members, { ...place, type })
    else for (const member of members) this.#addMember(member, { ...place, type })
  }

  #addThinking(members: readonly Child[], place: Place & { type: string }): void {
    const { parts } = this.#weigher
    const units = this.#weigher.unitsOf(() => {
      for (const member of members)
        if (member.key !== 'signature' || place.type !== 'thinking') this.#addMember(member, place)
    })
    if (place.isEarlier) parts.earlierThinkingUnits += units
    else parts.units += units
  }

  #addMember(member: Child, place: Place & { type: string }): void {
    const weigher = this.#weigher
    const { key = '' } = member
    const { type, depth } = place
    if (key === 'content') this.addContent(member, { ...place, depth: depth + 1 })
    else if (key === 'source' && (type === 'image' || type === 'document')) this.#addSource(member, place)
    else if (ENCRYPTED.get(key) === type) weigher.addEncrypted(member)
    else if (key !== 'citations' || !CITED.has(type)) weigher.addMember(member, BLOCK)
  }

  /** Adds the source of an image or a document. A source that two readers could take for different files counts as text. */
  #addSource(source: Range, { type, ...place }: Place & { type: string }): void {
    const weigher = this.#weigher
    const members = weigher.childrenOf(source)
    const kind = weigher.stringOf(onlyMember(members, 'type', SOURCE)) ?? ''
    const carrier = onlyString(weigher, members, CARRIERS.get(kind) ?? '', SOURCE)
    if (members.length === 0) weigher.add(source)
    for (const member of members) {
      if (member === carrier && kind === 'base64') addFile(weigher, member, type)
      else if (member === carrier) addReference(weigher, member, type)
      else if (member.key === 'content') this.addContent(member, { ...place, depth: place.depth + 1 })
      else weigher.addMember(member, SOURCE)
    }
  }
}

function addFile(weigher: Weigher, base64: Range, type: string): void {
  if (type === 'image') addImage(weigher, base64)
  else addPdf(weigher, base64)
}

/** The member with the contents of an image or a document, by the type of its source. */
const CARRIERS = new Map([
  ['base64', 'data'],
  ['url', 'url'],
  ['file', 'file_id'],
])

function isOfTool(type: string): boolean {
  return type.endsWith('tool_use') || type.endsWith('tool_result')
}
