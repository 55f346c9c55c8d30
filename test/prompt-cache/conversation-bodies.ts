import type { DialectName } from '../../src/core/reply/reply-dialect.ts'
import type { JsonObject } from '../support/json.ts'

/** Path of each dialect's route. */
export const PATHS: Readonly<Record<DialectName, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
}

const MODEL = 'claude-sonnet-4-5'
const PARAGRAPH = 'The keeper of the road counts each carriage, notes the hour, and writes down what was paid for it. '

/** A text of about so many tokens that begins with its name. */
export function textOf(name: string, tokens: number): string {
  return `${name}: ${PARAGRAPH.repeat(Math.ceil((tokens * 4) / PARAGRAPH.length))}`
}

/** The body of the nth call of a conversation, from 1: a system text, then questions and answers. */
export function bodyOf(dialect: DialectName, name: string, turn: number): JsonObject {
  const system = textOf(`system of ${name}`, 1500)
  const messages = Array.from({ length: 2 * turn - 1 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: textOf(`${name} ${index}`, 300),
  }))
  if (dialect === 'chat')
    return { model: MODEL, max_tokens: 20, messages: [{ role: 'system', content: system }, ...messages] }
  if (dialect === 'responses') return { model: MODEL, max_output_tokens: 20, instructions: system, input: messages }
  return { model: MODEL, max_tokens: 20, system, messages }
}
