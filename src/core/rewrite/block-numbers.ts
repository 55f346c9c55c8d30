import { findMember } from '../json/scan.ts'
import { startedEvents } from '../reply/started-blocks.ts'
import type { ReplyEvent } from './event-rewriter.ts'

const OF_BLOCK = /^content_block_(?:start|delta|stop)$/

/** Renumbers the blocks of a Messages stream: clients take the index of a block for its place in the message. */
export class BlockNumbers {
  readonly #numbers = new Map<number, number>()
  #next = 0

  /** Returns the event with its block's number among those that pass; the same event if the number is right. */
  counted(event: ReplyEvent): ReplyEvent {
    const { name, data } = event
    if (name === 'message_start') this.#next = startedEvents(data).length / 2
    if (!OF_BLOCK.test(name)) return event
    const json = Buffer.from(data).toString('latin1')
    const range = findMember(json, json.indexOf('{'), 'index')
    if (range === undefined) return event
    const index = Number(json.slice(range.start, range.end))
    if (name === 'content_block_start') this.#numbers.set(index, this.#next++)
    const number = this.#numbers.get(index) ?? index
    if (number === index) return event
    const counted = `${json.slice(0, range.start)}${number}${json.slice(range.end)}`
    return { name, data: Buffer.from(counted, 'latin1').toString() }
  }
}
