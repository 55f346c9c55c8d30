import { randomUUID } from 'node:crypto'
import { isObject, tryParseJson } from '../../json/json-value.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Conversations, EnteredTurn } from './conversations.ts'

/**
 * DESIGN: processes of one gateway agree on conversations.
 *
 * Ids from clients' names are digests and need no agreement. Turn numbers, and conversations that began alike, are known to
 * the process that has seen them: each process publishes its turns, in batches, off the request's way, and takes over those
 * of the others. A client that changes the process within the delay of a batch may get an earlier turn number, or stay in
 * the first of two conversations that began alike; nothing waits for agreement, and no id changes afterwards.
 *
 * Limits: one message is in-flight at a time; turns beyond the bound of a batch are dropped.
 */
const TOPIC = 'conversations'
const MOMENT_MS = 20
const MOST_AT_ONCE = 1000

/** Publishes the turns of this process, and takes over those of the others, until the channel is closed. */
export function shareConversations(conversations: Conversations, channel: Channel): void {
  const home = randomUUID()
  let waiting: EnteredTurn[] = []
  let isSending = false
  const flush = (): void => {
    const turns = waiting
    waiting = []
    const end = () => {
      isSending = false
      if (waiting.length > 0) start()
    }
    channel.publish(TOPIC, JSON.stringify({ home, turns })).then(end, end)
  }
  const start = (): void => {
    isSending = true
    setTimeout(flush, MOMENT_MS).unref()
  }
  conversations.onTurn = (turn) => {
    if (waiting.length < MOST_AT_ONCE) waiting.push(turn)
    if (!isSending) start()
  }
  channel.subscribe(TOPIC, (text) => {
    for (const turn of turnsOf(text, home)) conversations.learn(turn)
  })
}

/** Returns the turns of another process; none for its own. */
function turnsOf(text: string, home: string): readonly EnteredTurn[] {
  const message = tryParseJson(text)
  if (!isObject(message) || message.home === home || !Array.isArray(message.turns)) return []
  // Safe: the channel connects processes of one gateway, which publish nothing else on this topic.
  return message.turns as readonly EnteredTurn[]
}
