import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import test from 'ava'
import { type Arrival, ArrivingBytes } from './arriving-bytes.ts'
import { BodyIntake } from './body-intake.ts'

/** The part of a request that an intake reads. */
function requestOf(): PassThrough & IncomingMessage {
  // Safe: an intake reads headers and the stream.
  return Object.assign(new PassThrough(), { headers: {} }) as unknown as PassThrough & IncomingMessage
}

test('body intake: the bytes of a client that left half-way are free again', async (t) => {
  const intake = new BodyIntake({ limitBytes: 100, budgetBytes: 100 })
  const left = requestOf()
  const reading = intake.read(left, { sender: 'a' })
  left.write(Buffer.alloc(80))
  await new Promise((resolve) => setImmediate(resolve))
  left.destroy(new Error('aborted'))
  await t.throwsAsync(reading, { code: 'invalid_request' })
  const whole = requestOf()
  whole.end(Buffer.alloc(90))
  t.is((await intake.read(whole, { sender: 'b' })).length, 90)
})

function open(arriving: ArrivingBytes, budget: { dropped: string[] }) {
  return (name: string, sender: string): ((bytes: number) => void) => {
    const arrival: Arrival = { sender, bytes: 0, drop: () => budget.dropped.push(name) }
    return (bytes) => arriving.add(arrival, bytes)
  }
}

test('arriving bytes: drops the least recently active body of the sender with most bytes', (t) => {
  const seen = { dropped: [] as string[] }
  const arrive = open(new ArrivingBytes(100), seen)
  const [stalled, active, other] = [arrive('stalled', 'a'), arrive('active', 'a'), arrive('other', 'b')]
  active(30)
  stalled(30)
  other(35)
  active(1)
  t.deepEqual(seen.dropped, [])
  other(10)
  t.deepEqual(seen.dropped, ['stalled'])
  other(40)
  t.deepEqual(seen.dropped, ['stalled', 'other'])
})

test('arriving bytes: releases the bytes of a complete body, once', (t) => {
  const seen = { dropped: [] as string[] }
  const arriving = new ArrivingBytes(100)
  const arrival: Arrival = { sender: 'a', bytes: 0, drop: () => seen.dropped.push('a') }
  arriving.add(arrival, 90)
  arriving.remove(arrival)
  arriving.remove(arrival)
  const arrive = open(arriving, seen)
  arrive('b', 'b')(100)
  t.deepEqual(seen.dropped, [])
})
