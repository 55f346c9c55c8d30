import type { JsonObject } from '../../../core/json/json-value.ts'
import { isPlainText } from '../../chat/request/blocks-of-parts.ts'

/** A message under construction. */
interface Turn {
  readonly role: 'user' | 'assistant'
  /** The tool results at its beginning, by their calls. */
  readonly results: Map<unknown, JsonObject>
  /** The blocks after them. */
  readonly content: JsonObject[]
}

/**
 * The messages of a conversation of items. Consecutive items of the assistant are one message, as they were one reply; a
 * message of the user is one message. Tool results are at the beginning of the first message after their calls, as the
 * Messages API requires, and user text after them is in the same message.
 */
export class Turns {
  readonly #turns: Turn[] = []
  /** The first user message after the last one of the assistant, where results belong. */
  #answer: Turn | undefined

  /** Adds blocks of the assistant. */
  addAssistant(blocks: readonly JsonObject[]): void {
    if (blocks.length === 0) return
    this.#answer = undefined
    const last = this.#turns.at(-1)
    if (last?.role === 'assistant') last.content.push(...blocks)
    else this.#turns.push({ role: 'assistant', content: [...blocks], results: new Map() })
  }

  /** Adds a message of the user. */
  addUser(blocks: readonly JsonObject[]): void {
    if (blocks.length === 0) return
    const last = this.#turns.at(-1)
    if (last !== undefined && last === this.#answer && last.content.length === 0) last.content.push(...blocks)
    else this.#push({ role: 'user', content: [...blocks], results: new Map() })
  }

  /** Adds the result of a call; of several results of one call the last counts. */
  addResult(result: JsonObject): void {
    const { results } = this.#answer ?? this.#push({ role: 'user', content: [], results: new Map() })
    results.set(result.tool_use_id, result)
  }

  /** The messages in the Messages shape. */
  get messages(): readonly JsonObject[] {
    return this.#turns.map(({ role, content, results }) => ({
      role,
      content: simplified([...results.values(), ...content]),
    }))
  }

  #push(turn: Turn): Turn {
    this.#turns.push(turn)
    this.#answer ??= turn
    return turn
  }
}

function simplified(content: readonly JsonObject[]): string | readonly JsonObject[] {
  const [only, second] = content
  return only !== undefined && second === undefined && isPlainText(only) ? only.text : content
}
