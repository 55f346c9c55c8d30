import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import { recordOf, stringOf } from '../../chat/reply/narrow.ts'
import { MOST_SUMMARY_CHARACTERS } from '../compact/summary-seal.ts'
import type { ItemWriter, OutputOptions } from './output.ts'
import { type ItemEnd, OutputItem } from './output-item.ts'

/** The item of a compaction: begun and done at once, since what is sealed has to be whole. */
class CompactionItem extends OutputItem {
  #sealed = ''

  protected get started(): JsonObject {
    return this.itemAt()
  }

  seal(sealed: string): this {
    this.#sealed = sealed
    return this
  }

  itemAt(): JsonObject {
    return { id: this.id, type: 'compaction', encrypted_content: this.#sealed }
  }

  protected endContent(): string {
    return ''
  }
}

/** The output of a compaction: the message's text is the summary, sealed into one item; anything else is left out. */
export class CompactionOutput implements ItemWriter {
  readonly #options: OutputOptions
  readonly #seal: (summary: string) => string
  #summary = ''
  #end: ItemEnd = 'completed'
  #items: readonly JsonObject[] = []

  constructor(options: OutputOptions, seal: (summary: string) => string) {
    this.#options = options
    this.#seal = seal
  }

  get items(): readonly JsonObject[] {
    return this.#items
  }

  /** A part of a summary would replace the conversation without a trace of the rest. */
  get fault(): string | undefined {
    if (this.#end === 'incomplete')
      return 'The summary of the conversation was cut off or refused, so that the conversation was not compacted. Where it was cut, raise `max_output_tokens`, `providers.default_max_tokens` or the cap.'
    if (this.#summary.trim() === '') return 'The model wrote no summary, so that the conversation was not compacted.'
    return this.#summary.length > MOST_SUMMARY_CHARACTERS
      ? `The summary is longer than ${MOST_SUMMARY_CHARACTERS} characters, so that the conversation was not compacted.`
      : undefined
  }

  startBlock({ content_block }: JsonObject): string {
    const block = recordOf(content_block)
    if (block?.type === 'text') this.#summary += stringOf(block.text)
    return ''
  }

  extendBlock({ delta }: JsonObject): string {
    if (isObject(delta) && delta.type === 'text_delta') this.#summary += stringOf(delta.text)
    return ''
  }

  stopBlock(): string {
    return ''
  }

  end(last: ItemEnd): string {
    this.#end = last
    if (this.fault !== undefined) return ''
    const { events, idBase } = this.#options
    const item = new CompactionItem({ id: `cmp_${idBase}`, index: 0, events }).seal(this.#seal(this.#summary))
    const written = item.open() + item.close('completed')
    this.#items = [item.itemAt()]
    return written
  }
}
