import type { JsonObject } from '../../../core/json/json-value.ts'
import { sealSignature } from '../sealed-thinking.ts'
import { OutputItem } from './output-item.ts'

const AT = '"summary_index":0'

/** A block of thinking: its text as a summary, its signature as encrypted content. */
export class ReasoningItem extends OutputItem {
  #summary = ''
  #sealed = sealSignature('')

  protected get started(): JsonObject {
    return { id: this.id, type: 'reasoning', summary: [] }
  }

  /** Returns the events of a piece of thinking, which is not empty. */
  write(piece: string): string {
    const added =
      this.#summary === ''
        ? this.print('reasoning_summary_part.added', `${AT},"part":${JSON.stringify(partOf(''))}`)
        : ''
    this.#summary += piece
    return added + this.print('reasoning_summary_text.delta', `${AT},"delta":${JSON.stringify(piece)}`)
  }

  /** Sets the encrypted content. */
  seal(sealed: string): void {
    this.#sealed = sealed
  }

  itemAt(): JsonObject {
    const summary = this.#summary === '' ? [] : [partOf(this.#summary)]
    return { id: this.id, type: 'reasoning', summary, encrypted_content: this.#sealed }
  }

  protected endContent(): string {
    if (this.#summary === '') return ''
    return (
      this.print('reasoning_summary_text.done', `${AT},"text":${JSON.stringify(this.#summary)}`) +
      this.print('reasoning_summary_part.done', `${AT},"part":${JSON.stringify(partOf(this.#summary))}`)
    )
  }
}

function partOf(text: string): JsonObject {
  return { type: 'summary_text', text }
}
