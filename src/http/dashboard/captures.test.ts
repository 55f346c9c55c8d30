import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import test from 'ava'
import { eventually } from '../../../test/support/eventually.ts'
import { createRecordingLog } from '../../../test/support/recording-log.ts'
import type { CapturedRequest } from '../../core/ports/capture.ts'
import type { Channel } from '../../core/ports/channel.ts'
import type { Exchange } from '../../core/request/exchange.ts'
import { ObservedResponse } from '../sent-body.ts'
import { CaptureOptIns } from './capture-opt-in.ts'
import { captureRequest } from './capture-request.ts'
import { createMemoryCaptures } from './memory-captures.ts'

const MB = 1024 * 1024
const CALLER = { kind: 'key', scope: 'key:a', keyId: 'a', userId: 'u' } as const

/** Captures a request whose reply is written in these pieces, the last one with its end. */
function capture(original: Buffer, pieces: readonly Buffer[], isWanted = true) {
  const response = new ObservedResponse(new IncomingMessage(new Socket()))
  const kept: CapturedRequest[] = []
  const store = { put: (one: CapturedRequest) => kept.push(one), get: async () => undefined }
  // Safe: nothing else of the two is read.
  const client = { document: { bytes: original } }
  const exchange = { caller: CALLER, client, received: client, edits: [], watchEdits() {} } as unknown as Exchange
  const open = { id: 'r', exchange, response, guards: [] }
  captureRequest(open, { store, isWanted: () => isWanted } as unknown as Parameters<typeof captureRequest>[1])
  for (const piece of pieces.slice(0, -1)) response.write(piece)
  response.end(pieces.at(-1))
  response.emit('close')
  return kept
}

test('capture: of a request and its reply the first megabyte is kept, and the whole size', (t) => {
  const pieces = [0.4, 0.4, 0.4, 0.4].map((share, i) => Buffer.alloc(share * MB, i + 1))
  const [one] = capture(Buffer.alloc(1.5 * MB, 9), pieces)
  t.is(one?.scope, 'key:a')
  t.deepEqual([one?.request.bytes.length, one?.request.totalBytes], [MB, 1.5 * MB])
  const written = Buffer.concat(pieces)
  t.is(one?.reply.totalBytes, written.length)
  t.true(written.subarray(0, MB).equals(Buffer.from(one?.reply.bytes ?? [])))
})

test('capture: small bodies are kept whole, and those of others not at all', (t) => {
  const [one] = capture(Buffer.from('ask'), [Buffer.from('an'), Buffer.from('swer')])
  t.deepEqual([String(one?.request.bytes), String(Buffer.from(one?.reply.bytes ?? []))], ['ask', 'answer'])
  t.deepEqual(capture(Buffer.from('ask'), [Buffer.from('answer')], false), [])
})

const HOUR_MS = 3_600_000

/** Opens the opt-ins of two processes that share a store, on one clock. */
function openTwo() {
  const clock = { ms: 1_000_000, nowMs: () => clock.ms }
  const entries = new Map<string, Buffer>()
  const store = {
    get: async (key: string) => entries.get(key),
    set: async (key: string, value: Buffer) => void entries.set(key, value),
    delete: async (key: string) => void entries.delete(key),
  }
  const create = () => new CaptureOptIns({ store, keepMs: HOUR_MS, clock, log: createRecordingLog() })
  return { clock, one: create(), other: create() }
}

test('capture: another process learns of an opt-in and of its end ten seconds later', async (t) => {
  const { clock, one, other } = openTwo()
  const isWantedThere = async () => {
    clock.ms += 10_001
    other.isWanted('ann') // looks it up for later requests
    await new Promise(setImmediate)
    return other.isWanted('ann')
  }
  t.false(await isWantedThere())
  for (const forMs of [HOUR_MS, 0, HOUR_MS]) {
    await one.set('ann', forMs)
    t.is(await isWantedThere(), forMs > 0)
  }
})

/** Opens opt-ins of processes with stores of their own, on one channel; a process may start at any time. */
function openCluster({ answersAfterMs = 0 } = {}) {
  const clock = { ms: 1_000_000, nowMs: () => clock.ms }
  const listeners = new Map<string, ((text: string) => void)[]>()
  const channel: Channel = {
    async publish(topic, text) {
      const all = listeners.get(topic) ?? []
      const isAnswer = topic.includes(':')
      for (const listener of all)
        if (isAnswer) setTimeout(() => listener(text), answersAfterMs)
        else setImmediate(() => listener(text))
      return all.length
    },
    subscribe: (topic, listener) => void listeners.set(topic, [...(listeners.get(topic) ?? []), listener]),
    close: async () => {},
  }
  const start = () => {
    const entries = new Map<string, Buffer>()
    const store = {
      get: async (key: string) => entries.get(key),
      set: async (key: string, value: Buffer) => void entries.set(key, value),
      delete: async (key: string) => void entries.delete(key),
    }
    return new CaptureOptIns({ store, keepMs: HOUR_MS, channel, clock, log: createRecordingLog() })
  }
  return { clock, start }
}
const isWanted = (optIns: CaptureOptIns) => () => optIns.isWanted('ann')

test('capture: a process that starts after an opt-in learns of it from the others, with the time that is left', async (t) => {
  const { clock, start } = openCluster()
  const one = start()
  await one.set('ann', HOUR_MS)
  await new Promise(setImmediate)
  clock.ms += 1000
  const [other, third] = [start(), start()]
  t.is(await other.untilMs('ann'), clock.ms + HOUR_MS - 1000)
  await eventually(isWanted(third), 'the opt-in in a third process')
  await one.set('ann', 0)
  await eventually(() => ![one, other, third].some((each) => each.isWanted('ann')), 'its end everywhere')
  const last = start()
  t.is(await last.untilMs('ann'), undefined)
})

test('capture: an end that is published while a process asks the others is not undone by their answers', async (t) => {
  const { start } = openCluster({ answersAfterMs: 50 })
  const one = start()
  await one.set('ann', HOUR_MS)
  await new Promise(setImmediate)
  const other = start()
  const asking = other.untilMs('ann')
  // Until the answer, with the consent, is on its way.
  for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
  await one.set('ann', 0)
  t.is(await asking, undefined)
  t.false(other.isWanted('ann'))
  t.is(await other.untilMs('ann'), undefined)
})

const body = (size: number) => ({ bytes: Buffer.alloc(size), totalBytes: size })
const captured = (id: string, size: number) => ({
  ...{ id, scope: 'local', request: body(size), canonical: undefined, versions: [], reply: body(0) },
})

test('captures: one that exceeds the memory alone evicts no others, and is not kept', async (t) => {
  const captures = createMemoryCaptures({ most: 10, maxBytes: 10_000 })
  captures.put(captured('a', 2000))
  captures.put(captured('too large', 9000))
  captures.put(captured('b', 2000))
  const found = async (id: string) => (await captures.get(id)) !== undefined
  t.deepEqual(await Promise.all(['a', 'too large', 'b'].map(found)), [true, false, true])
  captures.put(captured('c', 7000))
  t.deepEqual(await Promise.all(['a', 'b', 'c'].map(found)), [false, false, true], 'the oldest leave first')
})

test('captures: large bodies are copies, which a reader has after they are evicted, and whose memory is freed then', async (t) => {
  const captures = createMemoryCaptures({ most: 2, maxBytes: 100 * MB })
  const sent = Array.from({ length: 40 }, (_, i) => captured(String(i), MB))
  const beforeBytes = process.memoryUsage().arrayBuffers
  for (const [nth, one] of sent.entries()) {
    one.request.bytes.fill(nth)
    captures.put(one)
    one.request.bytes.fill(0xff)
  }
  const leftBytes = process.memoryUsage().arrayBuffers - beforeBytes
  t.true(leftBytes < 10 * MB, `${leftBytes} bytes are left of 40 MB, of which 2 are kept`)
  const read = await captures.get('39')
  for (const id of ['x', 'y']) captures.put(captured(id, MB))
  t.is(await captures.get('39'), undefined)
  t.deepEqual(read?.request, { bytes: Buffer.alloc(MB, 39), totalBytes: MB })
})
