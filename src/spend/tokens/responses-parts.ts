import type { Child, Range } from '../../core/json/scan.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { OUTPUT_FORMAT_TOKENS, THINKING_TOKENS, TOOLS_TOKENS, UNKNOWN_PROVIDER_TOOL_TOKENS } from './hidden-prompts.ts'
import { addReference, addUri } from './media.ts'
import type { RequestParts } from './request-parts.ts'
import { createRules, onlyMember, Weigher } from './weigher.ts'

const ITEM_TOKENS = 4
const CALL_TOKENS = 28
const TOOL_TOKENS = 10
/** Longest free settings, in bytes. */
const SETTING_BYTES = 512

/** Fields that are never in a prompt, whatever their length. */
const FREE_FIELDS = new Set(['metadata', 'client_metadata'])
/** Fields that control the answer: free while they are short. */
const SETTINGS = new Set([
  ...['model', 'max_output_tokens', 'max_tool_calls', 'stream', 'stream_options', 'store', 'include', 'background'],
  ...['temperature', 'top_p', 'top_logprobs', 'parallel_tool_calls', 'tool_choice', 'reasoning', 'service_tier'],
  ...['user', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'truncation'],
])
const FORMATS = createRules({ mark: ['verbosity'], text: ['format'] })
const TOOL = createRules({
  mark: ['type', 'cache_control', 'strict', 'defer_loading'],
  text: ['name', 'description', 'parameters', 'format'],
})
const ITEM = createRules({
  mark: ['type', 'role', 'id', 'call_id', 'status', 'phase'],
  text: ['name', 'namespace', 'arguments', 'input', 'content', 'output', 'summary'],
})
const PART = createRules({
  mark: ['type', 'detail', 'cache_control', 'prompt_cache_breakpoint'],
  text: ['text', 'refusal', 'image_url', 'file_data', 'file_url', 'file_id', 'filename', 'annotations', 'logprobs'],
})
/** Members of parts with media, after the part's type. */
const MEDIA = new Map<string, (weigher: Weigher, value: Range) => void>([
  ['input_image.image_url', (weigher, url) => addUri(weigher, url, 'image')],
  ['input_image.file_id', (weigher, id) => addReference(weigher, id, 'image')],
  ['input_file.file_data', (weigher, uri) => addUri(weigher, uri, 'document')],
  ['input_file.file_url', (weigher, url) => addReference(weigher, url, 'document')],
  ['input_file.file_id', (weigher, id) => addReference(weigher, id, 'document')],
])

/** Reads the parts of a Responses request. Throws `ScanError` when it is not JSON. */
export function responsesParts(request: RequestDocument): RequestParts {
  return new ResponsesReader(request).read()
}

class ResponsesReader {
  readonly #request: RequestDocument
  readonly #weigher: Weigher
  #hasTools = false

  constructor(request: RequestDocument) {
    this.#request = request
    this.#weigher = new Weigher(request.bytes)
  }

  read(): RequestParts {
    const { parts } = this.#weigher
    const { fields } = this.#request.shape
    for (const [key, { start, end }] of fields) this.#addField({ key, start, end })
    if (this.#hasTools) parts.hiddenTokens += TOOLS_TOKENS
    if (fields.has('text')) parts.hiddenTokens += OUTPUT_FORMAT_TOKENS
    if (fields.has('reasoning')) parts.hiddenTokens += THINKING_TOKENS
    return parts
  }

  #addField(field: Child): void {
    const weigher = this.#weigher
    const { key = '' } = field
    if (key === 'input') weigher.addEach(field, (item) => this.#addItem(item))
    else if (key === 'instructions') weigher.add(field)
    else if (key === 'tools') this.#addTools(field)
    else if (key === 'text') weigher.addMembers(field, (member) => weigher.addMember(member, FORMATS))
    else if (SETTINGS.has(key)) weigher.addMark(field, SETTING_BYTES)
    else if (!FREE_FIELDS.has(key)) weigher.addUnknown(field)
  }

  #addItem(item: Range): void {
    const weigher = this.#weigher
    weigher.parts.frameTokens += ITEM_TOKENS
    weigher.addMembers(item, (member, members) => {
      const { key = '' } = member
      if (key === 'call_id') weigher.parts.frameTokens += CALL_TOKENS
      if (key === 'content' || key === 'output') weigher.addEach(member, (part) => this.#addPart(part))
      else if (key === 'tools') this.#addTools(member)
      else if (key === 'encrypted_content' && onlyMember(members, key, ITEM) === member) weigher.addEncrypted(member)
      else weigher.addMember(member, ITEM)
    })
  }

  /** Adds a part. A part that two readers could take for different ones counts as text. */
  #addPart(part: Range): void {
    const weigher = this.#weigher
    weigher.addMembers(part, (member, members) => {
      const { key = '' } = member
      const type = weigher.stringOf(onlyMember(members, 'type', PART)) ?? ''
      const add = MEDIA.get(`${type}.${key}`)
      if (add !== undefined && weigher.isString(member) && onlyMember(members, key, PART) === member)
        add(weigher, member)
      else weigher.addMember(member, PART)
    })
  }

  #addTools(tools: Range): void {
    this.#weigher.addEach(tools, (tool) => this.#addTool(tool))
  }

  #addTool(tool: Range): void {
    const weigher = this.#weigher
    const type = weigher.stringOf(onlyMember(weigher.childrenOf(tool), 'type', TOOL))
    this.#hasTools = true
    weigher.parts.frameTokens += TOOL_TOKENS
    if (type !== 'function' && type !== 'custom' && type !== 'namespace') {
      weigher.parts.isPlain = false
      weigher.parts.frameTokens += UNKNOWN_PROVIDER_TOOL_TOKENS
    }
    weigher.addMembers(tool, (member) => {
      if (member.key === 'tools' && type === 'namespace') this.#addTools(member)
      else weigher.addMember(member, TOOL)
    })
  }
}
