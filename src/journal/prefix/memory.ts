import { LRUCache } from 'lru-cache'
import { sizeOf } from './digest.ts'
import type { SentTurn } from './turn.ts'

/** Latest turns of one thread, the last one last. */
type Thread = readonly SentTurn[]

/** Bound of all digests of a process, in bytes: some thousand conversations. */
const MOST_BYTES = 16 * 1024 * 1024
const LARGEST_CONVERSATION = 2 * 1024 * 1024
const MOST_THREADS = 8
/** Two, since of two parallel requests the later one does not continue the earlier one. */
const TURNS_KEPT = 2
const TURN_BYTES = 500

/** The latest turns of the conversations of this process; the least recently used conversations are evicted. */
export class TurnMemory {
  readonly #conversations = new LRUCache<string, readonly Thread[]>({
    maxSize: MOST_BYTES,
    maxEntrySize: LARGEST_CONVERSATION,
    sizeCalculation: (threads) => threads.flat().reduce((sum, turn) => sum + bytesOf(turn), TURN_BYTES),
  })

  /** Returns the latest turns of a conversation, empty where all were too short to be kept; `undefined` for an unknown one. */
  turnsOf(conversationId: string): readonly SentTurn[] | undefined {
    return this.#conversations.get(conversationId)?.flat()
  }

  /** Remembers that a conversation was here, without a turn of it. */
  note(conversationId: string): void {
    if (!this.#conversations.has(conversationId)) this.#conversations.set(conversationId, [])
  }

  /** Adds a turn to the thread of its predecessor, or begins a thread with it. */
  add(conversationId: string, turn: SentTurn, predecessor: SentTurn | undefined): void {
    const threads = this.#conversations.get(conversationId) ?? []
    const own = predecessor && threads.find((thread) => thread.includes(predecessor))
    const others = threads.filter((thread) => thread !== own)
    const thread = [...(own ?? []), turn].slice(-TURNS_KEPT)
    this.#conversations.set(conversationId, [...others, thread].slice(-MOST_THREADS))
  }
}

function bytesOf({ sent, unedited }: SentTurn): number {
  return TURN_BYTES + sizeOf(sent) + (unedited === undefined || unedited === sent ? 0 : sizeOf(unedited))
}
