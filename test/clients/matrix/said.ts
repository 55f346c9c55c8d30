import { call, type GeminiScript, thought } from '../../support/gemini/script.ts'
import type { JsonObject } from '../../support/json.ts'
import type { ChatScript } from '../../support/openai/script.ts'
import type { Script } from '../../support/provider/script.ts'
import type { ProviderName, SceneScripts } from '../../support/provider-stage.ts'

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

/** The script of one provider: what its model says turn by turn. */
export function says(provider: ProviderName, turns: readonly Said[]): SceneScripts {
  const script = (nth: number) => {
    const said = turns[nth - 1]
    return said && SPEAKERS[provider](said)
  }
  return { [provider]: script }
}

/** The script of a provider that refuses every call. */
export function refuses(provider: ProviderName, refused: Refused): SceneScripts {
  return { [provider]: { kind: 'error', ...refused } }
}

const SPEAKERS = { anthropic: speakMessages, openai: speakChat, gemini: speakGemini, house: speakChat } as const

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
  if (reasoning !== undefined) content.unshift({ type: 'thinking', thinking: reasoning, signature: 'c2lnbmVk' })
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
