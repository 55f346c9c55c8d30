import { call, type GeminiScript, thought } from '../../support/gemini/script.ts'
import type { JsonObject } from '../../support/json.ts'
import type { ChatAnswerScript, ChatScript } from '../../support/openai/script.ts'
import type { SeenRequest } from '../../support/provider/journal.ts'
import type { Delivery, ReplyScript, Script } from '../../support/provider/script.ts'
import type { ProviderName, ScenarioScripts } from '../../support/provider-fixture.ts'
import { listOf } from './heard.ts'

/** A reply of a model, for any provider. */
export interface Said {
  reasoning?: string
  text?: string
  calls?: readonly { name: string; input: JsonObject }[]
  /** In tokens; see `Answer`. */
  usage?: { input: number; cached: number; output: number }
  /** Streams calls in turns, piece by piece, where the provider can. */
  isInterleaved?: boolean
  /** Ends where no more tokens are allowed. */
  isCut?: boolean
  /** Its connection breaks in the middle of the text. */
  isBroken?: boolean
  /** Begins to stream its text, and then hangs until the client disconnects. */
  isStuck?: boolean
}

/** A provider's refusal. */
export interface Refused {
  status: number
  message: string
  headers?: Readonly<Record<string, string>>
}

/**
 * Returns the script of one provider: its replies turn by turn, after one refusal, if there is one. Anthropic refuses
 * thoughts that it has not signed.
 */
export function says(provider: ProviderName, turns: readonly Said[], refusedFirst?: Refused): ScenarioScripts {
  let turn = 0
  let refusal = refusedFirst
  const script = (_nth: number, { json }: SeenRequest) => {
    if (provider === 'anthropic' && hasForeignThoughts(json)) return BAD_SIGNATURE
    if (provider === 'anthropic' && json?.thread !== undefined) return NO_THREADS
    if (refusal !== undefined) {
      const refused = refusal
      refusal = undefined
      return { kind: 'error', ...refused } as const
    }
    const said = turns[turn++]
    return said && SPEAKERS[provider](said)
  }
  return { [provider]: script }
}

/** Returns the script of one provider whose reply follows from the request alone. */
export function answers(provider: ProviderName, reply: (request: SeenRequest) => Said) {
  return (_nth: number, request: SeenRequest) => SPEAKERS[provider](reply(request))
}

/** Returns the script of one provider whose model first calls a tool with an input of exactly this text. */
export function saysRaw(provider: ProviderName, { name, input }: { name: string; input: string }): ScenarioScripts {
  const script = (nth: number) => (nth === 1 ? callRaw(provider, name, input) : undefined)
  return { [provider]: script }
}

/** Returns the script of a provider that refuses every call. */
export function refuses(provider: ProviderName, refused: Refused): ScenarioScripts {
  return { [provider]: { kind: 'error', ...refused } }
}

const SPEAKERS = {
  anthropic: speakMessages,
  openai: speakChat,
  gemini: speakGemini,
  house: speakChat,
  responder: speakResponses,
} as const

const SIGNATURE = 'c2lnbmVk'
const BAD_SIGNATURE = {
  kind: 'error',
  status: 400,
  message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
} as const

/** Refusal of server-side threads, with which Anthropic's SDK begins loops of tools, and after which it continues without. */
const NO_THREADS = {
  kind: 'reply',
  status: 400,
  body: {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: 'thread: not supported for this request',
      details: { error_code: 'thread_unsupported_request', unsupported: ['model'] },
    },
  },
} as const

function hasForeignThoughts(body: JsonObject | undefined): boolean {
  return listOf(body?.messages)
    .flatMap(({ content }) => listOf(content))
    .some(({ type, signature }) => type === 'thinking' && signature !== SIGNATURE)
}

const never = new Promise(() => {})
/** Enough for the beginning of a text, and not for its end. */
const BEGINNING_BYTES = 1500
/** The same of a response, whose first events repeat the request. */
const RESPONSE_BEGINNING_BYTES = 6000

function deliveryOf({ isStuck, isBroken }: Pick<Said, 'isStuck' | 'isBroken'>, bytes = BEGINNING_BYTES): Delivery {
  if (isBroken) return { cutAfterBytes: bytes }
  const between = (writesDone: number) => (writesDone > 0 ? { until: never } : undefined)
  return isStuck ? { writes: { sizes: [bytes], between } } : {}
}

/** Calls of Messages so far: a provider repeats no id, by which agents recognise a call. */
let made = 0

function speakMessages({ reasoning, text, calls = [], usage, isCut, ...how }: Said): Script {
  const content: JsonObject[] = calls.map(({ name, input }) => ({
    type: 'tool_use',
    id: `toolu_${++made}`,
    name,
    input,
  }))
  if (text !== undefined) content.unshift({ type: 'text', text })
  if (reasoning !== undefined) content.unshift({ type: 'thinking', thinking: reasoning, signature: SIGNATURE })
  const counts = usage && {
    input_tokens: usage.input - usage.cached,
    cache_read_input_tokens: usage.cached,
    output_tokens: usage.output,
  }
  return {
    kind: 'answer',
    content,
    ...(counts && { usage: counts }),
    ...(isCut && { stopReason: 'max_tokens' }),
    ...deliveryOf(how),
  }
}

function speakChat({ reasoning, text, calls = [], usage, isInterleaved, isCut, ...how }: Said): ChatAnswerScript {
  const counts = usage && {
    prompt_tokens: usage.input,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens: usage.output,
  }
  return {
    kind: 'answer',
    toolCalls: calls.map(({ name, input }) => ({ name, arguments: JSON.stringify(input) })),
    ...(text !== undefined && { text }),
    ...(reasoning !== undefined && { reasoning }),
    ...(counts && { usage: counts }),
    ...(isInterleaved && { interleaved: true }),
    ...(isCut && { finishReason: 'length' }),
    ...deliveryOf(how),
  }
}

function speakResponses({ usage, ...said }: Said): ChatScript {
  const counts = usage && {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens: usage.output,
  }
  return { ...speakChat(said), ...(counts && { usage: counts }), ...deliveryOf(said, RESPONSE_BEGINNING_BYTES) }
}

function speakGemini({ reasoning, text, calls = [], usage, isCut, ...how }: Said): GeminiScript {
  const parts = calls.map(({ name, input }) => call(name, input))
  if (text !== undefined) parts.unshift({ text })
  if (reasoning !== undefined) parts.unshift(thought(reasoning))
  const counts = usage && {
    promptTokenCount: usage.input,
    cachedContentTokenCount: usage.cached,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output,
  }
  return {
    kind: 'answer',
    parts,
    ...(counts && { usage: counts }),
    ...(isCut && { finishReason: 'MAX_TOKENS' }),
    ...deliveryOf(how),
  }
}

function callRaw(provider: ProviderName, name: string, input: string): ReplyScript | ChatScript {
  if (provider === 'anthropic') {
    const use = `{"type":"tool_use","id":"toolu_raw","name":"${name}","input":${input}}`
    const end = '"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}'
    const body = `{"id":"msg_raw","type":"message","role":"assistant","model":"m","content":[${use}],${end}}`
    return { kind: 'reply', body }
  }
  if (provider === 'gemini') {
    const part = `{"functionCall":{"name":"${name}","args":${input}}}`
    return { kind: 'reply', body: `{"candidates":[{"content":{"parts":[${part}]},"finishReason":"STOP"}]}` }
  }
  return { kind: 'answer', toolCalls: [{ name, arguments: input }] }
}
