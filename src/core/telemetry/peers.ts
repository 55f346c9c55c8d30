import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isObject, tryParseJson } from '../json/json-value.ts'
import type { Channel } from '../ports/channel.ts'

/**
 * DESIGN — queries to the other processes
 *
 *   ask(query) ── topic ─► all processes ── results ─► the topic of the querying process
 *
 * The channel resolves with the number of listeners, so that missing listeners are not awaited; a process that hangs
 * is awaited for a second.
 */
const PATIENCE_MS = 1000
const MOST_QUESTIONS = 50

/** Input of `connectPeers`. */
export interface PeersOptions {
  readonly channel: Channel
  readonly topic: string
  /** Answers a query of another process. */
  readonly answer: (question: string) => Promise<string>
}

/** Resolves with the results of the other processes, after a second at most; earlier once one is enough. Never rejects. */
export type AskPeers = (question: string, isEnough?: (answer: string) => boolean) => Promise<readonly string[]>

/** Answers the other processes' queries on a topic, and returns the function that queries them. */
export function connectPeers({ channel, topic, answer }: PeersOptions): AskPeers {
  const home = randomUUID()
  const open = new Map<string, (answer: string) => void>()
  channel.subscribe(topic, (text) => {
    const query = messageOf(text)
    if (query === undefined || query.home === home) return
    const reply = async () => {
      const answered = { home, id: query.id, text: await answer(query.text) }
      await channel.publish(`${topic}:${query.home}`, JSON.stringify(answered))
    }
    reply().catch(() => {}) // the querying process waits for a second at most
  })
  channel.subscribe(`${topic}:${home}`, (text) => {
    const answered = messageOf(text)
    if (answered !== undefined) open.get(answered.id)?.(answered.text)
  })
  return async function ask(question, isEnough = () => false) {
    if (open.size >= MOST_QUESTIONS) return []
    const id = randomUUID()
    const answers: string[] = []
    const { promise: done, resolve } = Promise.withResolvers<void>()
    let others = Number.POSITIVE_INFINITY
    const settle = () => {
      if (answers.length >= others || answers.some(isEnough)) resolve()
    }
    open.set(id, (answer) => {
      answers.push(answer)
      settle()
    })
    try {
      // One of the listeners is this process.
      others = (await channel.publish(topic, JSON.stringify({ home, id, text: question }))) - 1
      settle()
      await Promise.race([done, sleep(PATIENCE_MS, undefined, { ref: false })])
    } catch {
      // The channel is down: the other processes cannot be reached.
    } finally {
      open.delete(id)
    }
    return answers
  }
}

/** Reads a message; `undefined` for one of another version, or of another program. */
function messageOf(text: string): { home: string; id: string; text: string } | undefined {
  const message = tryParseJson(text)
  if (!isObject(message)) return undefined
  const { home, id, text: content } = message
  if (typeof home !== 'string' || typeof id !== 'string' || typeof content !== 'string') return undefined
  return { home, id, text: content }
}
