import { call, type GeminiScript, thought } from '../../support/gemini/script.ts'
import type { JsonObject } from '../../support/json.ts'
import type { ChatScript } from '../../support/openai/script.ts'
import type { SeenRequest } from '../../support/provider/journal.ts'
import type { Script } from '../../support/provider/script.ts'
import type { ProviderName, SceneScripts } from '../../support/provider-stage.ts'
import { listOf } from './heard.ts'

/** What a model says, whichever provider runs it. */
export interface Said {
  reasoning?: string
  text?: string
  calls?: readonly { name: string; input: JsonObject }[]
  /** Begins to stream its text, and says no more until its caller leaves. */
  isStuck?: boolean
}

/** How a provider refuses. */
export interface Refused {
  status: number
  message: string
  headers?: Readonly<Record<string, string>>
}

/** The script of one provider: what its model says turn by turn. Anthropic refuses thoughts that it has not signed. */
export function says(provider: ProviderName, turns: readonly Said[]): SceneScripts {
  let turn = 0
  const script = (_nth: number, { json }: SeenRequest) => {
    if (provider === 'anthropic' && hasForeignThoughts(json)) return BAD_SIGNATURE
    if (provider === 'anthropic' && json?.thread !== undefined) return NO_THREADS
    const said = turns[turn++]
    return said && SPEAKERS[provider](said)
  }
  return { [provider]: script }
}

/** The script of a provider that refuses every call. */
export function refuses(provider: ProviderName, refused: Refused): SceneScripts {
  return { [provider]: { kind: 'error', ...refused } }
}

const SPEAKERS = { anthropic: speakMessages, openai: speakChat, gemini: speakGemini, house: speakChat } as const

const SIGNATURE = 'c2lnbmVk'
const BAD_SIGNATURE = {
  kind: 'error',
  status: 400,
  message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
} as const

/** Its SDK begins loops of tools with messages held by the server, and goes on without when it is told this. */
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
const STUCK_AFTER_BYTES = 1500
const stuck = {
  writes: {
    sizes: [STUCK_AFTER_BYTES],
    between: (writesDone: number) => (writesDone > 0 ? { until: never } : undefined),
  },
}

function speakMessages({ reasoning, text, calls = [], isStuck }: Said): Script {
  const content: JsonObject[] = calls.map(({ name, input }, index) => ({
    type: 'tool_use',
    id: `toolu_${index}`,
    name,
    input,
  }))
  if (text !== undefined) content.unshift({ type: 'text', text })
  if (reasoning !== undefined) content.unshift({ type: 'thinking', thinking: reasoning, signature: SIGNATURE })
  return { kind: 'answer', content, ...(isStuck && stuck) }
}

function speakChat({ reasoning, text, calls = [], isStuck }: Said): ChatScript {
  return {
    kind: 'answer',
    toolCalls: calls.map(({ name, input }) => ({ name, arguments: JSON.stringify(input) })),
    ...(text !== undefined && { text }),
    ...(reasoning !== undefined && { reasoning }),
    ...(isStuck && stuck),
  }
}

function speakGemini({ reasoning, text, calls = [], isStuck }: Said): GeminiScript {
  const parts = calls.map(({ name, input }) => call(name, input))
  if (text !== undefined) parts.unshift({ text })
  if (reasoning !== undefined) parts.unshift(thought(reasoning))
  return { kind: 'answer', parts, ...(isStuck && stuck) }
}
