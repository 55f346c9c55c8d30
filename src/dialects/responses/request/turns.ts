import type { JsonObject } from '../../../core/json/json-value.ts'
import { isPlainText } from '../../chat/request/blocks-of-parts.ts'

/** A message under construction. */
interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: JsonObject[]
  /** The tool results at its beginning. */
  results: number
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
    else this.#turns.push({ role: 'assistant', content: [...blocks], results: 0 })
  }

  /** Adds a message of the user. */
  addUser(blocks: readonly JsonObject[]): void {
    if (blocks.length === 0) return
    const last = this.#turns.at(-1)
    if (last !== undefined && last === this.#answer && last.results === last.content.length)
      last.content.push(...blocks)
    else this.#push({ role: 'user', content: [...blocks], results: 0 })
  }

  /** Adds the result of a call; of several results of one call the last counts. */
  addResult(result: JsonObject): void {
    const turn = this.#answer ?? this.#push({ role: 'user', content: [], results: 0 })
    const earlier = turn.content.findIndex(
      (block, index) => index < turn.results && block.tool_use_id === result.tool_use_id,
    )
    if (earlier >= 0) turn.content[earlier] = result
    else turn.content.splice(turn.results++, 0, result)
  }

  /** The messages in the Messages shape. */
  get messages(): readonly JsonObject[] {
    return this.#turns.map(({ role, content }) => ({ role, content: simplified(content) }))
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
