import type { JsonObject } from '../../../core/json/json-value.ts'
import { type ItemEnd, OutputItem } from './output-item.ts'

/** A message of the assistant: a part for each block of text. */
export class MessageItem extends OutputItem {
  readonly #texts: string[] = []
  #text: string | undefined

  protected get started(): JsonObject {
    return this.#itemOf('in_progress', [])
  }

  /** Returns the events of a piece of text, which is not empty. */
  write(piece: string): string {
    const added = this.#text === undefined ? this.#beginPart() : ''
    this.#text = (this.#text ?? '') + piece
    return added + this.print('output_text.delta', `${this.#at},"delta":${JSON.stringify(piece)},"logprobs":[]`)
  }

  /** Ends the part that is open; the next text begins another one. */
  endPart(): string {
    const text = this.#text
    if (text === undefined) return ''
    const ended =
      this.print('output_text.done', `${this.#at},"text":${JSON.stringify(text)},"logprobs":[]`) +
      this.print('content_part.done', `${this.#at},"part":${JSON.stringify(partOf(text))}`)
    this.#texts.push(text)
    this.#text = undefined
    return ended
  }

  itemAt(end: ItemEnd): JsonObject {
    return this.#itemOf(end, this.#texts.map(partOf))
  }

  protected endContent(): string {
    return this.endPart()
  }

  #beginPart(): string {
    return this.print('content_part.added', `${this.#at},"part":${JSON.stringify(partOf(''))}`)
  }

  get #at(): string {
    return `"content_index":${this.#texts.length}`
  }

  #itemOf(status: string, content: readonly JsonObject[]): JsonObject {
    return { id: this.id, type: 'message', status, role: 'assistant', content }
  }
}

function partOf(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}
