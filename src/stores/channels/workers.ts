import cluster, { type Worker } from 'node:cluster'
import type { Channel } from '../../core/ports/channel.ts'
import { withDeadline } from '../kv/deadline.ts'

/**
 * DESIGN — a channel of workers on one port
 *
 *   worker ──publish──► primary ──deliver──► every subscribed worker
 *      ◄────delivered, once the texts are written────┘
 *
 * Guarantees: a publisher's promise resolves when all messages are handed on, which gives back-pressure; a worker that does
 * not read its pipe is skipped after a few texts, so that the primary buffers little for it, and after a thousand
 * important ones.
 */
type Message =
  | { readonly channel: 'subscribe'; readonly topic: string }
  | {
      readonly channel: 'publish'
      readonly id: number
      readonly topic: string
      readonly text: string
      readonly important: boolean
    }
  | { readonly channel: 'deliver'; readonly topic: string; readonly text: string }
  | { readonly channel: 'delivered'; readonly id: number; readonly listeners: number }

const MOST_UNWRITTEN = 8
const MOST_UNWRITTEN_WITH_IMPORTANT = 1000
/** Time-out of a message; no request waits for it. */
const DEADLINE_MS = 2000

/** Creates the worker's end. */
export function workerChannel(): Channel {
  const listeners = new Map<string, (text: string) => void>()
  const waiting = new Map<number, (listeners: number) => void>()
  let lastId = 0
  const hear = (message: unknown): void => {
    if (!isMessage(message)) return
    if (message.channel === 'deliver') listeners.get(message.topic)?.(message.text)
    if (message.channel === 'delivered') waiting.get(message.id)?.(message.listeners)
  }
  process.on('message', hear)
  return {
    async publish(topic, text, { important = false } = {}) {
      const id = ++lastId
      const { promise, resolve } = Promise.withResolvers<number>()
      waiting.set(id, resolve)
      void send(process, { channel: 'publish', id, topic, text, important })
      return withDeadline(promise, { deadlineMs: DEADLINE_MS }).finally(() => waiting.delete(id))
    },
    subscribe(topic, listener) {
      listeners.set(topic, listener)
      void send(process, { channel: 'subscribe', topic })
    },
    async close() {
      process.off('message', hear)
    },
  }
}

/** Forwards texts to the subscribed workers; runs in the primary. */
export function passTextsOn(): void {
  const listening = new Map<string, Set<Worker>>()
  const unwritten = new WeakMap<Worker, number>()
  cluster.on('disconnect', (worker) => {
    for (const [topic, workers] of listening) if (workers.delete(worker) && workers.size === 0) listening.delete(topic)
  })
  const deliver = async (worker: Worker, message: Message): Promise<void> => {
    unwritten.set(worker, (unwritten.get(worker) ?? 0) + 1)
    await send(worker, message)
    unwritten.set(worker, (unwritten.get(worker) ?? 1) - 1)
  }
  const pass = async ({ topic, text, important }: Extract<Message, { channel: 'publish' }>): Promise<number> => {
    const most = important ? MOST_UNWRITTEN_WITH_IMPORTANT : MOST_UNWRITTEN
    const able = [...(listening.get(topic) ?? [])].filter((worker) => (unwritten.get(worker) ?? 0) < most)
    await Promise.all(able.map((worker) => deliver(worker, { channel: 'deliver', topic, text })))
    return able.length
  }
  cluster.on('message', (from: Worker, message: unknown) => {
    if (!isMessage(message)) return
    if (message.channel === 'subscribe')
      listening.set(message.topic, (listening.get(message.topic) ?? new Set()).add(from))
    if (message.channel === 'publish')
      void pass(message).then((listeners) => send(from, { channel: 'delivered', id: message.id, listeners }))
  })
}

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'channel' in message
}

/** Sends a message; resolves when it is written, or cannot be, as to a worker that has just ended. */
function send(to: { send?: Worker['send'] }, message: Message): Promise<void> {
  return new Promise((resolve) => {
    if (to.send === undefined) resolve()
    else to.send(message, () => resolve())
  })
}
