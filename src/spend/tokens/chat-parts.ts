import type { Child, Range } from '../../core/json/scan.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { ChatMessageReader } from './chat-message-reader.ts'
import { OUTPUT_FORMAT_TOKENS, THINKING_TOKENS, TOOLS_TOKENS, UNKNOWN_PROVIDER_TOOL_TOKENS } from './hidden-prompts.ts'
import type { RequestParts } from './request-parts.ts'
import { createRules, onlyMember, Weigher } from './weigher.ts'

const TOOL_TOKENS = 10
/** Longest free settings, in bytes. */
const SETTING_BYTES = 512
/**
 * Factor of a prediction: parts that the answer does not follow are billed as output (OpenAI, "Predicted Outputs"), whose
 * price is four times that of input for the models that support it.
 */
const PREDICTION_FACTOR = 4

/** Fields that are never in a prompt, whatever their length. */
const FREE_FIELDS = new Set(['metadata', 'stop', 'logit_bias'])
/** Fields that control the answer: free while they are short. */
const SETTINGS = new Set([
  ...['model', 'max_tokens', 'max_completion_tokens', 'n', 'stream', 'stream_options', 'seed', 'user', 'store'],
  ...['temperature', 'top_p', 'top_k', 'min_p', 'presence_penalty', 'frequency_penalty', 'repetition_penalty'],
  ...['logprobs', 'top_logprobs', 'parallel_tool_calls', 'tool_choice', 'function_call', 'reasoning_effort'],
  ...['reasoning', 'thinking', 'verbosity', 'modalities', 'audio', 'service_tier', 'safety_identifier'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'web_search_options', 'cache_control'],
])
const FORMAT = createRules({ mark: ['type'], text: ['json_schema'] })
const TOOL = createRules({ mark: ['type', 'cache_control'], text: ['function', 'custom'] })
const FUNCTION = createRules({
  mark: ['cache_control'],
  text: ['name', 'description', 'parameters', 'strict', 'format'],
})

/** Reads the parts of a chat completions request. Throws `ScanError` when it is not JSON. */
export function chatParts(request: RequestDocument): RequestParts {
  return new ChatReader(request).read()
}

class ChatReader {
  readonly #request: RequestDocument
  readonly #weigher: Weigher
  readonly #messages: ChatMessageReader
  #hasTools = false

  constructor(request: RequestDocument) {
    this.#request = request
    this.#weigher = new Weigher(request.bytes)
    this.#messages = new ChatMessageReader(this.#weigher)
  }

  read(): RequestParts {
    const { parts } = this.#weigher
    const { fields } = this.#request.shape
    for (const [key, { start, end }] of fields) this.#addField({ key, start, end })
    if (this.#hasTools) parts.hiddenTokens += TOOLS_TOKENS
    if (fields.has('response_format')) parts.hiddenTokens += OUTPUT_FORMAT_TOKENS
    if (fields.has('reasoning') || fields.has('reasoning_effort')) parts.hiddenTokens += THINKING_TOKENS
    return parts
  }

  #addField(field: Child): void {
    const weigher = this.#weigher
    switch (field.key) {
      case 'messages':
        this.#addMessages(field)
        break
      case 'tools':
        this.#weigher.addEach(field, (tool) => this.#addTool(tool))
        break
      case 'functions':
        this.#weigher.addEach(field, (definition) => this.#addFunction(definition))
        break
      case 'response_format':
        this.#weigher.addMembers(field, (member) => weigher.addMember(member, FORMAT))
        break
      case 'prediction':
        weigher.parts.isPlain = false
        weigher.parts.units += PREDICTION_FACTOR * weigher.unitsOf(() => weigher.add(field))
        break
      default:
        if (SETTINGS.has(field.key ?? '')) weigher.addMark(field, SETTING_BYTES)
        else if (!FREE_FIELDS.has(field.key ?? '')) weigher.addUnknown(field)
    }
  }

  #addMessages(messages: Range): void {
    const { shape } = this.#request
    if (this.#weigher.isArray(messages)) for (const message of shape.messages) this.#messages.add(message)
    else this.#weigher.add(messages)
  }

  #addTool(tool: Range): void {
    const weigher = this.#weigher
    const type = weigher.stringOf(onlyMember(weigher.childrenOf(tool), 'type', TOOL)) ?? 'function'
    this.#hasTools = true
    weigher.parts.frameTokens += TOOL_TOKENS
    if (type !== 'function' && type !== 'custom') {
      weigher.parts.isPlain = false
      weigher.parts.frameTokens += UNKNOWN_PROVIDER_TOOL_TOKENS
    }
    this.#weigher.addMembers(tool, (member) => {
      const isDefinition = member.key === 'function' || member.key === 'custom'
      if (isDefinition) this.#weigher.addMembers(member, (each) => weigher.addMember(each, FUNCTION))
      else weigher.addMember(member, TOOL)
    })
  }

  #addFunction(definition: Range): void {
    this.#hasTools = true
    this.#weigher.parts.frameTokens += TOOL_TOKENS
    this.#weigher.addMembers(definition, (member) => this.#weigher.addMember(member, FUNCTION))
  }
}
