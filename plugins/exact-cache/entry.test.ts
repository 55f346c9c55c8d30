import test from 'ava'
import fc from 'fast-check'
import type { Reply, Usage } from 'turnpike/plugin'
import { MESSAGES_REPLIES } from '../../src/core/reply-dialect.ts'
import { assembleMessage, assertMessageStream } from '../../test/support/events.ts'
import { type Entry, packEntry, replyFromEntry, unpackEntry } from './entry.ts'

const MESSAGE =
  '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hello, you."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":5}}'
const KNOWN = { dialect: 'messages', facts: { 'x-svc-model': 'anthropic/m' }, usage: undefined }
const json: Entry = { kind: 'json', ...KNOWN, body: Buffer.from(MESSAGE) }
const asStream = { dialect: MESSAGES_REPLIES, stream: true }
const asJson = { dialect: MESSAGES_REPLIES, stream: false }
/** A dialect that is not the canonical one. */
const OTHER = { ...MESSAGES_REPLIES, name: 'chat' } as const

const usage: fc.Arbitrary<Usage | undefined> = fc.option(
  fc.record({ inputTokens: fc.nat(), outputTokens: fc.nat() }) as unknown as fc.Arbitrary<Usage>, // safe: only carried
  { nil: undefined },
)
const entry = fc.record({
  kind: fc.constantFrom('json', 'stream'),
  dialect: fc.constantFrom('messages', 'chat'),
  facts: fc.constantFrom({}, { 'x-svc-dropped': 'top_k' }),
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
  return { kind: 'stream', ...KNOWN, body: await bytesOf(replyFromEntry(json, asStream)) }
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
  t.is(String(await bytesOf(replyFromEntry(json, asJson))), MESSAGE)
})

test('entry: JSON asked as a stream is the stream of its message', async (t) => {
  const events = assertMessageStream(await bytesOf(replyFromEntry(json, asStream)))
  t.deepEqual(assembleMessage(events), JSON.parse(MESSAGE))
})

test('entry: a stream asked as a stream is its bytes', async (t) => {
  const stored = await storedStream()
  t.deepEqual(await bytesOf(replyFromEntry(stored, asStream)), stored.body)
})

test('entry: a stream asked as JSON is its message', async (t) => {
  t.deepEqual(JSON.parse(String(await bytesOf(replyFromEntry(await storedStream(), asJson)))), JSON.parse(MESSAGE))
})

test('entry: a stream that cannot be told as JSON has no JSON reply', async (t) => {
  const { body } = await storedStream()
  const unknown = Buffer.from(body.toString().replace('text_delta', 'delta_of_tomorrow'))
  t.is(replyFromEntry({ kind: 'stream', ...KNOWN, body: unknown }, asJson), undefined)
})

test('entry: what was said of the reply is said again', (t) => {
  t.is(replyFromEntry(json, asStream)?.headers['x-svc-model'], 'anthropic/m')
  t.is(replyFromEntry(json, asJson)?.headers['x-svc-model'], 'anthropic/m')
})

test('entry: a reply in another dialect is for that dialect, and for the kind that was asked', async (t) => {
  const chat: Entry = { ...json, dialect: 'chat' }
  t.is(replyFromEntry(chat, asJson), undefined)
  t.is(replyFromEntry(chat, { dialect: OTHER, stream: true }), undefined)
  const reply = replyFromEntry(chat, { dialect: OTHER, stream: false })
  t.is(String(await bytesOf(reply)), MESSAGE)
  t.is(reply?.dialect, OTHER)
})

test('entry: a canonical reply stays one for a caller of another dialect', (t) => {
  t.is(replyFromEntry(json, { dialect: OTHER, stream: false })?.dialect, MESSAGES_REPLIES)
})
