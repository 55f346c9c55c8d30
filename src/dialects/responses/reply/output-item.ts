import type { JsonObject } from '../../../core/json/json-value.ts'
import type { EventPrinter } from './event-printer.ts'

/** State in which an item ends: `incomplete` when the reply was cut inside it. */
export type ItemEnd = 'completed' | 'incomplete'

/** An item's place in the response. */
export interface Place {
  /** Id, the same in every event of the item. */
  readonly id: string
  /** Index among the items. */
  readonly index: number
  readonly events: EventPrinter
}

/** An item of the output under construction: `open`, its own events, `close`, each once and in this order. */
export abstract class OutputItem {
  readonly id: string
  readonly index: number
  readonly #events: EventPrinter

  constructor({ id, index, events }: Place) {
    this.id = id
    this.index = index
    this.#events = events
  }

  /** Returns the event that adds the item. */
  open(): string {
    return this.#printItem('added', this.started)
  }

  /** Returns the last events of the item. */
  close(end: ItemEnd): string {
    return this.endContent() + this.#printItem('done', this.itemAt(end))
  }

  /** The item as it begins. */
  protected abstract readonly started: JsonObject
  /** Returns the events that end the content. */
  protected abstract endContent(): string
  /** Returns the item as it ended. */
  abstract itemAt(end: ItemEnd): JsonObject

  /** Prints an event of the item's content; `members` as JSON, without braces. */
  protected print(type: string, members: string): string {
    const rest = members === '' ? '' : `,${members}`
    return this.#events.print(`response.${type}`, `"item_id":"${this.id}","output_index":${this.index}${rest}`)
  }

  #printItem(step: 'added' | 'done', item: JsonObject): string {
    return this.#events.print(
      `response.output_item.${step}`,
      `"output_index":${this.index},"item":${JSON.stringify(item)}`,
    )
  }
}
