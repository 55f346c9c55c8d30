import test from 'ava'
import fc from 'fast-check'
import { assembleMessage, assertMessageStream } from '../../../test/support/events.ts'
import { BytesReply, type Reply } from './reply.ts'
import { MESSAGES_REPLIES } from './reply-dialect.ts'
import { packReply, replyFromStored, type StoredReply, storedOfBytes, unpackReply } from './stored-reply.ts'
import type { Usage } from './usage.ts'

const MESSAGE =
  '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hello, you."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":5}}'
const KNOWN = { dialect: 'messages', facts: { 'x-svc-model': 'anthropic/m' }, usage: undefined }
const json: StoredReply = { kind: 'json', ...KNOWN, body: Buffer.from(MESSAGE) }
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

async function storedStream(): Promise<StoredReply> {
  return { kind: 'stream', ...KNOWN, body: await bytesOf(replyFromStored(json, asStream)) }
}

test('entry: a packed entry is unpacked unchanged', (t) => {
  fc.assert(fc.property(entry, (given) => void t.deepEqual(unpackReply(packReply(given)), given)))
})

test('entry: a packed entry keeps no more memory alive than its own bytes', (t) => {
  const packed = packReply(json)
  t.is(packed.buffer.byteLength, packed.length)
})

test('entry: any bytes are an entry or refused, and never throw', (t) => {
  const bytes = fc.uint8Array({ maxLength: 64 }).map((list) => Buffer.from(list))
  fc.assert(fc.property(bytes, (garbage) => void t.notThrows(() => unpackReply(garbage))))
})

test('entry: an entry that is cut within its head is refused', (t) => {
  const packed = packReply({ ...json, body: Buffer.alloc(0) })
  for (let length = 0; length < packed.length; length++) t.is(unpackReply(packed.subarray(0, length)), undefined)
})

for (const head of ['null', '[]', '"json"', '{}', '{"kind":"xml"}', '{"kind":"json"', '']) {
  test(`entry: a head of ${head || 'nothing'} is refused`, (t) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(head.length)
    t.is(unpackReply(Buffer.concat([length, Buffer.from(head), json.body])), undefined)
  })
}

test('entry: JSON requested as JSON is its bytes', async (t) => {
  t.is(String(await bytesOf(replyFromStored(json, asJson))), MESSAGE)
})

test('entry: JSON requested as a stream is the stream of its message', async (t) => {
  const events = assertMessageStream(await bytesOf(replyFromStored(json, asStream)))
  t.deepEqual(assembleMessage(events), JSON.parse(MESSAGE))
})

test('entry: a stream requested as a stream is its bytes', async (t) => {
  const stored = await storedStream()
  t.deepEqual(await bytesOf(replyFromStored(stored, asStream)), stored.body)
})

test('entry: a stream requested as JSON is its message', async (t) => {
  t.deepEqual(JSON.parse(String(await bytesOf(replyFromStored(await storedStream(), asJson)))), JSON.parse(MESSAGE))
})

test('entry: a stream without a JSON form has no JSON reply', async (t) => {
  const { body } = await storedStream()
  const unknown = Buffer.from(body.toString().replace('text_delta', 'delta_of_tomorrow'))
  t.is(replyFromStored({ kind: 'stream', ...KNOWN, body: unknown }, asJson), undefined)
})

test('entry: headers about the reply are sent again', (t) => {
  t.is(replyFromStored(json, asStream)?.headers['x-svc-model'], 'anthropic/m')
  t.is(replyFromStored(json, asJson)?.headers['x-svc-model'], 'anthropic/m')
})

test('entry: a reply in another dialect is for that dialect, and for the requested kind', async (t) => {
  const chat: StoredReply = { ...json, dialect: 'chat' }
  t.is(replyFromStored(chat, asJson), undefined)
  t.is(replyFromStored(chat, { dialect: OTHER, stream: true }), undefined)
  const reply = replyFromStored(chat, { dialect: OTHER, stream: false })
  t.is(String(await bytesOf(reply)), MESSAGE)
  t.is(reply?.dialect, OTHER)
})

test('entry: a canonical reply stays canonical for a caller of another dialect', (t) => {
  t.is(replyFromStored(json, { dialect: OTHER, stream: false })?.dialect, MESSAGES_REPLIES)
})

const USED = '{"content":[{"text":"a } b \\" c"}],"usage":{"input_tokens":1,"output_tokens":2}}'
for (const [claim, body, isStored] of [
  ['one object', USED, true],
  ['one object with line ends around it', `\r\n ${USED}\n`, true],
  ['an object without usage', '{"content":[]}', false],
  ['a truncated object', USED.slice(0, -1), false],
  ['two objects', `${USED}${USED}`, false],
  ['a prefix before the object', `)]}'\n${USED}`, false],
  ['a page with an object', `<p>${USED}</p>`, false],
  ['a list', `[${USED}]`, false],
] as const) {
  test(`entry: a 200 of ${claim} is ${isStored ? 'stored' : 'not stored'}`, (t) => {
    t.is(storedOfBytes(new BytesReply(200, {}, Buffer.from(body))) !== undefined, isStored)
  })
}
