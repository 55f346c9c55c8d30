import type { ContentBlock, Message } from '../../core/request/message.ts'
import type { RequestDocument } from '../../core/request/request.ts'

/** A demo model's reply, before it is cut to `max_tokens`. */
export interface DemoAnswer {
  readonly content: ContentBlock[]
  readonly stopReason: 'end_turn' | 'tool_use'
}

/** The demo models and their descriptions. */
export const DEMO_MODELS = {
  echo: 'Repeats your last message.',
  lorem: 'Writes a few paragraphs, to watch a stream.',
  tool: 'Calls the first tool you offer, then reports its result.',
} as const

/** The name of a demo model. */
export type DemoModel = keyof typeof DEMO_MODELS

const NOTICE = '[demo provider: no model was called] '

const LOREM = `A turnpike was a road that paid for itself: a gate, a keeper, and a small sum for passing. Carts slowed, coins changed hands, and the road beyond was the better for it.

This gateway borrows the idea. Every request travels through a row of modules, each of which may read it, change it or answer it. What comes out at the other end is the provider's own reply, byte for byte.

Point your client's base URL here, name the modules you want, and go on as before. When you have seen enough of this text, set ANTHROPIC_API_KEY and ask a real model.`

/** Returns a demo model's reply to `request`. */
export function answerOf(model: DemoModel, request: RequestDocument): DemoAnswer {
  switch (model) {
    case 'echo':
      return say(`You said: ${textOf(request.messages.at(-1)) || '(nothing)'}`)
    case 'lorem':
      return say(LOREM)
    case 'tool':
      return callTool(request)
  }
}

function say(text: string): DemoAnswer {
  return { content: [{ type: 'text', text: NOTICE + text }], stopReason: 'end_turn' }
}

function callTool(request: RequestDocument): DemoAnswer {
  const last = request.messages.at(-1)
  const result = blocksOf(last).find((block) => block.type === 'tool_result')
  if (result !== undefined) return say(`The tool answered: ${JSON.stringify(result.content ?? '')}`)
  const [tool] = (request.field('tools') ?? []) as {
    name?: string
    input_schema?: { properties?: Record<string, { type?: string }> }
  }[]
  if (tool?.name === undefined) return say('Offer me a tool in `tools`, and I will call it.')
  const properties = Object.entries(tool.input_schema?.properties ?? {})
  const input = Object.fromEntries(properties.map(([name, { type }]) => [name, EXAMPLES[type ?? 'string'] ?? null]))
  const text: ContentBlock = { type: 'text', text: `${NOTICE}Calling ${tool.name}.` }
  return { content: [text, { type: 'tool_use', id: 'toolu_demo_1', name: tool.name, input }], stopReason: 'tool_use' }
}

const EXAMPLES: Record<string, unknown> = {
  string: 'example',
  number: 1,
  integer: 1,
  boolean: true,
  array: [],
  object: {},
}

function blocksOf(message: Message | undefined): readonly ContentBlock[] {
  return message === undefined || typeof message.content === 'string' ? [] : message.content
}

/** Joins all text of a message. */
function textOf(message: Message | undefined): string {
  if (message !== undefined && typeof message.content === 'string') return message.content
  return blocksOf(message)
    .map((block) => ('text' in block && typeof block.text === 'string' ? block.text : ''))
    .join(' ')
    .trim()
}
