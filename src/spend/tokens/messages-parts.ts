import type { Child, Range } from '../../core/json/scan.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { BlockReader } from './block-reader.ts'
import { hiddenPromptTokens, providerToolTokens } from './hidden-prompts.ts'
import type { RequestParts } from './request-parts.ts'
import { createRules, onlyMember, type Rules, Weigher } from './weigher.ts'
import { UNITS_PER_TOKEN } from './weights.ts'

const MESSAGE_TOKENS = 4
const TOOL_TOKENS = 10
/** Longest free settings, in bytes: with context edits of every kind. */
const SETTING_BYTES = 512
/** Tools that a search of the provider returns at once: "the 3–5 most relevant" (Claude API, "Tool search tool"). */
const FOUND_TOOLS = 5
/** Longest credential of an MCP server, in bytes. */
const CREDENTIAL_BYTES = 8192

/** Fields that are never in a prompt, whatever their length. */
const FREE_FIELDS = new Set(['metadata', 'stop_sequences'])
/** Fields that control the answer: free while they are short. */
const SETTINGS = new Set([
  ...['model', 'max_tokens', 'stream', 'temperature', 'top_p', 'top_k', 'service_tier', 'inference_geo', 'speed'],
  ...['thinking', 'tool_choice', 'container', 'context_management', 'cache_control', 'prompt_cache_options'],
])
const MESSAGE = createRules({ mark: ['role'], text: ['content'] })
const OUTPUT = createRules({ text: ['format'], mark: ['effort', 'task_budget'] })
const SERVER = createRules({ mark: ['type', 'name'], free: ['url', 'authorization_token'] })
const TOOL = createRules({
  mark: ['cache_control', 'defer_loading'],
  text: [
    ...['type', 'name', 'description', 'input_schema', 'strict', 'input_examples'],
    ...['allowed_callers', 'eager_input_streaming'],
  ],
})
const PROVIDER_TOOL = createRules({
  mark: [
    ...['type', 'name', 'cache_control', 'defer_loading', 'max_uses', 'max_content_tokens', 'max_characters'],
    ...['display_width_px', 'display_height_px', 'display_number', 'citations', 'use_cache', 'mcp_server_name'],
  ],
})

/** Reads the parts of a Messages request. Throws `ScanError` when it is not JSON. */
export function messagesParts(request: RequestDocument): RequestParts {
  return new MessagesReader(request).read()
}

class MessagesReader {
  readonly #request: RequestDocument
  readonly #weigher: Weigher
  readonly #blocks: BlockReader

  constructor(request: RequestDocument) {
    this.#request = request
    this.#weigher = new Weigher(request.bytes)
    this.#blocks = new BlockReader(this.#weigher)
  }

  read(): RequestParts {
    const { parts } = this.#weigher
    const { fields } = this.#request.shape
    let hasTools = false
    for (const [key, { start, end }] of fields) {
      if (key === 'tools') hasTools = this.#addTools({ start, end })
      else this.#addField({ key, start, end })
    }
    parts.hiddenTokens += hiddenPromptTokens(this.#request, hasTools)
    // The provider's count includes its changes there, and the estimate cannot.
    if (fields.has('mcp_servers') || fields.has('context_management')) parts.isPlain = false
    // A context edit may keep thinking that a model would leave out.
    if (fields.has('context_management')) {
      parts.units += parts.earlierThinkingUnits
      parts.earlierThinkingUnits = 0
    }
    return parts
  }

  #addField(field: Child): void {
    const weigher = this.#weigher
    switch (field.key) {
      case 'messages':
        this.#addMessages(field)
        break
      case 'system':
        this.#blocks.addContent(field, { depth: 0, isEarlier: false })
        break
      case 'output_config':
        this.#addObject(field, OUTPUT)
        break
      case 'mcp_servers':
        this.#addServers(field)
        break
      default:
        if (SETTINGS.has(field.key ?? '')) weigher.addMark(field, SETTING_BYTES)
        else if (!FREE_FIELDS.has(field.key ?? '')) weigher.addUnknown(field)
    }
  }

  /** Adds messages from the last to the first, to know which thinking precedes the user's last text. */
  #addMessages(messages: Range): void {
    const weigher = this.#weigher
    if (!weigher.isArray(messages)) weigher.add(messages)
    let isEarlier = false
    for (const message of this.#request.shape.messages.toReversed()) {
      weigher.parts.frameTokens += MESSAGE_TOKENS
      const members = weigher.childrenOf(message)
      if (members.length === 0) weigher.add(message)
      for (const member of members) {
        if (member.key === 'content') this.#blocks.addContent(member, { depth: 0, isEarlier })
        else weigher.addMember(member, MESSAGE)
      }
      isEarlier ||= this.#hasWordsOfUser(members)
    }
  }

  /** Returns true when a message is the user's, and certainly more than tool results. */
  #hasWordsOfUser(members: readonly Child[]): boolean {
    const role = this.#weigher.stringOf(onlyMember(members, 'role', MESSAGE))
    const content = onlyMember(members, 'content', MESSAGE)
    return role === 'user' && content !== undefined && this.#blocks.hasMoreThanResults(content)
  }

  /** Adds the tools; returns true when one is in the prompt from the start. */
  #addTools(tools: Range): boolean {
    const weigher = this.#weigher
    if (!weigher.isArray(tools)) {
      weigher.add(tools)
      return false
    }
    const { parts } = weigher
    const deferred: number[] = []
    let hasTools = false
    for (const tool of weigher.childrenOf(tools)) {
      const members = weigher.childrenOf(tool)
      const type = weigher.stringOf(onlyMember(members, 'type', TOOL))
      const isCustom = type === undefined || type === 'custom'
      const units = weigher.unitsOf(() => this.#addTool(tool, members, isCustom ? TOOL : PROVIDER_TOOL))
      if (this.#isDeferred(members)) {
        deferred.push(units + TOOL_TOKENS * UNITS_PER_TOKEN)
        continue
      }
      hasTools = true
      parts.units += units
      if (isCustom) parts.frameTokens += TOOL_TOKENS
      else parts.hiddenTokens += providerToolTokens(type)
      if (!isCustom) parts.isPlain = false
    }
    this.#addDeferred(deferred)
    return hasTools
  }

  #isDeferred(members: readonly Child[]): boolean {
    const mark = onlyMember(members, 'defer_loading', TOOL)
    return mark !== undefined && this.#weigher.text.startsWith('true', mark.start)
  }

  /** Adds deferred tools: the largest may be found at once; the rest counts where the model's provider does not defer. */
  #addDeferred(units: readonly number[]): void {
    const { parts } = this.#weigher
    const sum = (list: readonly number[]) => list.reduce((total, each) => total + each, 0)
    const largestFirst = units.toSorted((a, b) => b - a)
    parts.units += sum(largestFirst.slice(0, FOUND_TOOLS))
    parts.deferredUnits += sum(largestFirst.slice(FOUND_TOOLS))
  }

  #addTool(tool: Range, members: readonly Child[], rules: Rules): void {
    if (members.length === 0) this.#weigher.add(tool)
    for (const member of members) this.#weigher.addMember(member, rules)
  }

  #addServers(servers: Range): void {
    const weigher = this.#weigher
    weigher.addEach(servers, (server) =>
      weigher.addMembers(server, (member) => {
        if (SERVER.get(member.key ?? '') === 'free') weigher.addMark(member, CREDENTIAL_BYTES)
        else weigher.addMember(member, SERVER)
      }),
    )
  }

  #addObject(object: Range, rules: Rules): void {
    this.#weigher.addMembers(object, (member) => this.#weigher.addMember(member, rules))
  }
}
