import test from 'ava'
import fc from 'fast-check'
import type { Reply, Usage } from 'turnpike/plugin'
import { assembleMessage, assertMessageStream } from '../../test/support/events.ts'
import { type Entry, packEntry, replyFromEntry, unpackEntry } from './entry.ts'

const MESSAGE =
  '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hello, you."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":5}}'
const json: Entry = { kind: 'json', usage: undefined, body: Buffer.from(MESSAGE) }

const usage: fc.Arbitrary<Usage | undefined> = fc.option(
  fc.record({ inputTokens: fc.nat(), outputTokens: fc.nat() }) as unknown as fc.Arbitrary<Usage>, // safe: only carried
  { nil: undefined },
)
const entry = fc.record({
  kind: fc.constantFrom('json', 'stream'),
  usage,
  body: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
})

function bytesOf(reply: Reply | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (reply === undefined) return reject(new Error('no reply'))
    if (reply.kind === 'bytes') return resolve(reply.bytes)
    const portions: Buffer[] = []
    reply.open({ write: (portion) => portions.push(portion) > 0, end: () => resolve(Buffer.concat(portions)) })
  })
}

async function storedStream(): Promise<Entry> {
  return { kind: 'stream', usage: undefined, body: await bytesOf(replyFromEntry(json, true)) }
}

test('entry: what is packed comes back', (t) => {
  fc.assert(fc.property(entry, (given) => void t.deepEqual(unpackEntry(packEntry(given)), given)))
})

test('entry: a packed entry keeps no more memory alive than its own bytes', (t) => {
  const packed = packEntry(json)
  t.is(packed.buffer.byteLength, packed.length)
})

test('entry: any bytes are an entry or refused, and never throw', (t) => {
  const bytes = fc.uint8Array({ maxLength: 64 }).map((list) => Buffer.from(list))
  fc.assert(fc.property(bytes, (garbage) => void t.notThrows(() => unpackEntry(garbage))))
})

test('entry: one that is cut within its head is refused', (t) => {
  const packed = packEntry({ ...json, body: Buffer.alloc(0) })
  for (let length = 0; length < packed.length; length++) t.is(unpackEntry(packed.subarray(0, length)), undefined)
})

for (const head of ['null', '[]', '"json"', '{}', '{"kind":"xml"}', '{"kind":"json"', '']) {
  test(`entry: a head of ${head || 'nothing'} is refused`, (t) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(head.length)
    t.is(unpackEntry(Buffer.concat([length, Buffer.from(head), json.body])), undefined)
  })
}

test('entry: JSON asked as JSON is its bytes', async (t) => {
  t.is(String(await bytesOf(replyFromEntry(json, false))), MESSAGE)
})

test('entry: JSON asked as a stream is the stream of its message', async (t) => {
  const events = assertMessageStream(await bytesOf(replyFromEntry(json, true)))
  t.deepEqual(assembleMessage(events), JSON.parse(MESSAGE))
})

test('entry: a stream asked as a stream is its bytes', async (t) => {
  const stored = await storedStream()
  t.deepEqual(await bytesOf(replyFromEntry(stored, true)), stored.body)
})

test('entry: a stream asked as JSON is its message', async (t) => {
  t.deepEqual(JSON.parse(String(await bytesOf(replyFromEntry(await storedStream(), false)))), JSON.parse(MESSAGE))
})

test('entry: a stream that cannot be told as JSON has no JSON reply', async (t) => {
  const { body } = await storedStream()
  const unknown = Buffer.from(body.toString().replace('text_delta', 'delta_of_tomorrow'))
  t.is(replyFromEntry({ kind: 'stream', usage: undefined, body: unknown }, false), undefined)
})
