import { isJsonObject, type JsonObject, valueAt } from '../json.ts'
import { isReasoningModel, servedModel } from './model.ts'
import type { ChatAnswerScript, Flavour, ScriptedCall } from './script.ts'
import { countPromptTokens, countWords, toWords } from './tokens.ts'

/** The request of a completion, and its number, which makes ids unique and the same on every run. */
export interface CompletionContext {
  body: JsonObject
  nth: number
  flavour: Flavour
}

/** The parts of a reply, for any flavour. */
interface Answer {
  text: string | null
  calls: JsonObject[]
  finishReason: string
  usage: { prompt: number; completion: number; reasoning: number }
}

const CREATED_AT_SECONDS = 1_763_000_000

/**
 * Builds a finished chat completion: the scripted parts, else a text built from the last user text, or a call of the tool
 * that the request forces. A word is a token, so a text longer than the token limit is cut there and ends with `length`.
 */
export function toCompletion(context: CompletionContext, script: Omit<ChatAnswerScript, 'kind'> = {}): JsonObject {
  const { body, nth, flavour } = context
  const answer = toAnswer(context, script)
  const count = Number(body.n ?? 1)
  const choices = Array.from({ length: count }, (_, index) => toChoice(answer, script, { index, ...context }))
  const head = {
    id: `chatcmpl-StandIn${String(nth).padStart(21, '0')}`,
    object: 'chat.completion',
    created: CREATED_AT_SECONDS + nth,
    model: servedModel(body.model, flavour),
    choices,
  }
  if (flavour === 'compatible') return { ...head, usage: toUsage(answer, script, flavour), prompt_logprobs: null }
  // Replies of the gpt-5 family have no fingerprint.
  const fingerprint = /^gpt-5/.test(String(body.model)) ? null : 'fp_5tand1n000'
  return {
    ...head,
    usage: toUsage(answer, script, flavour),
    service_tier: 'default',
    system_fingerprint: fingerprint,
  }
}

function toAnswer(context: CompletionContext, script: Omit<ChatAnswerScript, 'kind'>): Answer {
  const { body, nth } = context
  const calls = (script.toolCalls ?? defaultCalls(body, script)).map((call, index) => toCall(call, nth, index))
  const isSilent = calls.length > 0 || script.refusal !== undefined
  const words = toWords(script.text ?? (isSilent ? '' : defaultText(body)))
  const limit = Number(body.max_completion_tokens ?? body.max_tokens ?? Infinity)
  const fitting = words.slice(0, limit)
  const reasoning = countWords(script.reasoning)
  const completion = fitting.length + reasoning + countWords([calls.map((call) => call.function), script.refusal])
  return {
    text: isSilent && fitting.length === 0 ? null : fitting.join(''),
    calls,
    finishReason: script.finishReason ?? finishReasonOf(body, calls, fitting.length < words.length),
    usage: { prompt: countPromptTokens(body), completion: Math.max(1, completion), reasoning },
  }
}

function toChoice(
  { text, calls, finishReason }: Answer,
  script: Omit<ChatAnswerScript, 'kind'>,
  { index, body, flavour }: CompletionContext & { index: number },
): JsonObject {
  const { reasoning, reasoningField = 'reasoning_content', refusal = null, annotations } = script
  const thought = reasoning === undefined ? {} : { [reasoningField]: reasoning }
  const message = { role: 'assistant', content: text, refusal }
  if (flavour === 'compatible') {
    // vLLM prints members without a value.
    const members = { reasoning_content: null, annotations: annotations ?? null, tool_calls: calls, ...thought }
    const end = { logprobs: null, finish_reason: finishReason, stop_reason: null }
    return { index, message: { ...message, ...members }, ...end }
  }
  const tools = calls.length > 0 ? { tool_calls: calls } : {}
  return {
    index,
    message: { ...message, ...thought, ...tools, annotations: annotations ?? [] },
    ...(isReasoningModel(body.model) ? {} : { logprobs: null }),
    finish_reason: finishReason,
  }
}

function toUsage({ usage }: Answer, script: Omit<ChatAnswerScript, 'kind'>, flavour: Flavour): JsonObject {
  const plain = { prompt_tokens: usage.prompt, completion_tokens: usage.completion, ...script.usage }
  const counts = { total_tokens: Number(plain.prompt_tokens) + Number(plain.completion_tokens), ...plain }
  if (flavour === 'compatible') return { prompt_tokens_details: null, ...counts }
  return {
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
    ...counts,
  }
}

function toCall(call: ScriptedCall, nth: number, index: number): JsonObject {
  const id = call.id ?? `call_StandIn${String(nth * 100 + index).padStart(17, '0')}`
  return { id, type: 'function', function: { name: call.name, arguments: call.arguments } }
}

/** Returns a call without arguments for a request that forces a tool, unless the script has content. */
function defaultCalls({ tools, tool_choice: choice }: JsonObject, script: Omit<ChatAnswerScript, 'kind'>) {
  if (script.text !== undefined || script.refusal !== undefined) return []
  const name = choice === 'required' ? valueAt(tools, '0.function.name') : valueAt(choice, 'function.name')
  return typeof name === 'string' ? [{ name, arguments: '{}' }] : []
}

function defaultText({ response_format: format, messages }: JsonObject): string {
  if (String(valueAt(format, 'type')).startsWith('json_')) return '{}'
  const list: unknown[] = Array.isArray(messages) ? messages : []
  const content = valueAt(
    list.findLast((message) => valueAt(message, 'role') === 'user'),
    'content',
  )
  const parts: unknown[] = Array.isArray(content) ? content : [{ type: 'text', text: content ?? '' }]
  const texts = parts.flatMap((part) => (isJsonObject(part) && part.type === 'text' ? [part.text] : []))
  return `You said: ${texts.join(' ')}`
}

/** Returns the finish reason: `stop` for a call of the one function in `tool_choice`, see the function calling guide. */
function finishReasonOf(body: JsonObject, calls: readonly JsonObject[], isCut: boolean): string {
  if (calls.length > 0) return isJsonObject(body.tool_choice) ? 'stop' : 'tool_calls'
  return isCut ? 'length' : 'stop'
}
