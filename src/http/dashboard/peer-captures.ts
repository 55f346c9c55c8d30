import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { deserialize, serialize } from 'node:v8'
import { z } from 'zod'
import type { CapturedRequest, CaptureStore } from '../../core/ports/capture.ts'
import type { Channel } from '../../core/ports/channel.ts'
import { readText } from './read-text.ts'

/**
 * DESIGN — bodies that another process keeps
 *
 *   get(id) ── own memory, or ── ask ─► all processes ── found, or "not here" ─► the one that asked
 *
 * The channel tells how many have heard the question, so that nobody waits for an answer that cannot come; a process that
 * hangs is waited for a second. What is too large for a channel goes without what each module made of it.
 */
const TOPIC = 'captures'
const PATIENCE_MS = 1000
const MOST_QUESTIONS = 50
const LARGEST_BYTES = 8 * 1024 ** 2

const question = z.object({ home: z.string(), question: z.string(), id: z.string() })
const answer = z.object({ question: z.string(), found: z.string().nullable() })

interface Question {
  /** How many have said that it is not theirs. */
  misses: number
  /** How many there are to answer, once that is known. */
  others: number
  readonly settle: (found: CapturedRequest | undefined) => void
}

/** A store that also finds what other processes keep. */
export function createPeerCaptures(own: CaptureStore, channel: Channel): CaptureStore {
  const home = randomUUID()
  const open = new Map<string, Question>()
  channel.subscribe(TOPIC, (text) => {
    const asked = readText(question, text)
    if (asked === undefined || asked.home === home) return
    const reply = async () => {
      const found = await own.get(asked.id)
      const answered = { question: asked.question, found: found === undefined ? null : pack(found) }
      await channel.publish(`${TOPIC}:${asked.home}`, JSON.stringify(answered))
    }
    // Who asked waits for a second, and no longer.
    reply().catch(() => {})
  })
  channel.subscribe(`${TOPIC}:${home}`, (text) => {
    const answered = readText(answer, text)
    const waiting = answered && open.get(answered.question)
    if (answered === undefined || waiting === undefined) return
    if (answered.found !== null) waiting.settle(unpack(answered.found))
    else if (++waiting.misses === waiting.others) waiting.settle(undefined)
  })
  const ask = async (id: string): Promise<CapturedRequest | undefined> => {
    if (open.size >= MOST_QUESTIONS) return undefined
    const { promise, resolve: settle } = Promise.withResolvers<CapturedRequest | undefined>()
    const waiting = { misses: 0, others: Number.POSITIVE_INFINITY, settle }
    const name = randomUUID()
    open.set(name, waiting)
    try {
      // One of those who heard it is this process.
      waiting.others = (await channel.publish(TOPIC, JSON.stringify({ home, question: name, id }))) - 1
      if (waiting.misses >= waiting.others) return undefined
      return await Promise.race([promise, sleep(PATIENCE_MS, undefined, { ref: false })])
    } catch {
      return undefined
    } finally {
      open.delete(name)
    }
  }
  return { put: (captured) => own.put(captured), get: async (id) => (await own.get(id)) ?? (await ask(id)) }
}

function pack(captured: CapturedRequest): string {
  const bytes = serialize(captured)
  const sent = bytes.length <= LARGEST_BYTES ? bytes : serialize({ ...captured, canonical: undefined, versions: [] })
  return sent.toString('base64')
}

/** Safe: other processes run this very code. */
function unpack(text: string): CapturedRequest {
  return deserialize(Buffer.from(text, 'base64')) as CapturedRequest
}
