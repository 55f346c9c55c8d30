import test from 'ava'
import fc from 'fast-check'
import { outlineOf } from './long-texts.ts'
import { RequestDocument } from './request.ts'

const LONG = 'A long text with "quotes", \\ backslashes,\n lines and – other ☂ characters. '.repeat(80)

function documentOf(body: unknown): RequestDocument {
  return new RequestDocument(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
}

function message(content: unknown) {
  return { model: 'm', max_tokens: 1, messages: [{ role: 'user', content }] }
}

test('long texts: cut texts come back byte for byte', (t) => {
  const document = documentOf(message([{ type: 'text', text: LONG }]))
  const outline = outlineOf(document)
  t.true(outline.document.bytes.length < 300)
  t.deepEqual(outline.restore(outline.document.bytes), document.bytes)
})

test('long texts: the outline is JSON of the same shape', (t) => {
  const { document } = outlineOf(
    documentOf(
      message([
        { type: 'text', text: LONG },
        { type: 'image', source: {} },
      ]),
    ),
  )
  const parsed = JSON.parse(document.bytes.toString())
  t.deepEqual(Object.keys(parsed), ['model', 'max_tokens', 'messages'])
  t.like(parsed.messages[0].content[1], { type: 'image' })
})

test('long texts: a text that is moved, joined and copied is whole in each place', (t) => {
  const { document, restore } = outlineOf(documentOf(message(LONG)))
  const [{ content }] = JSON.parse(document.bytes.toString()).messages
  const translated = restore(Buffer.from(JSON.stringify({ a: `before ${content}`, b: [content] })))
  t.deepEqual(JSON.parse(translated.toString()), { a: `before ${LONG}`, b: [LONG] })
})

test('long texts: escapes stay as the client wrote them', (t) => {
  const raw = `{"messages":[{"role":"user","content":"\\u00e9\\/\\ud83d ${'x'.repeat(5000)}"}]}`
  const { document, restore } = outlineOf(documentOf(raw))
  const translated = JSON.stringify(JSON.parse(document.bytes.toString()))
  t.is(restore(Buffer.from(translated)).toString(), raw)
})

for (const [claim, body] of [
  ['a small body', message('x'.repeat(500))],
  ['a blank text', message(' \n\t'.repeat(3000))],
  ['a text of an error', message(`Error: ${LONG}`)],
  ['a text under another key', message([{ type: 'note', note: LONG }])],
  [
    'the input of a tool',
    message([{ type: 'tool_use', id: 't', name: 'n', input: { content: LONG, deep: [{ text: LONG }] } }]),
  ],
] as const) {
  test(`long texts: ${claim} stays`, (t) => {
    const document = documentOf(body)
    t.is(outlineOf(document).document, document)
  })
}

test('long texts: an escaped key leaves the whole body alone', (t) => {
  const raw = JSON.stringify(message([{ type: 'tool_use', input: { content: LONG } }])).replace(
    '"input"',
    '"inp\\u0075t"',
  )
  const document = documentOf(raw)
  t.is(outlineOf(document).document, document)
})

test('long texts: marks that a client wrote itself come back', (t) => {
  const { document } = outlineOf(documentOf(message(LONG)))
  const [{ content: mark }] = JSON.parse(document.bytes.toString()).messages
  const guess = `${String(mark).replace(/-[0-9a-f]+-/, `-${'0'.repeat(32)}-`)} ${LONG}`
  const outline = outlineOf(documentOf(message(guess)))
  t.deepEqual(JSON.parse(outline.restore(outline.document.bytes).toString()), message(guess))
})

const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 100, maxLength: 400 }),
  fc.string({ minLength: 170, maxLength: 400 }),
  fc.constantFrom('\\', '"', '\\"', '\n').map((piece) => piece.repeat(300)),
)
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom(null, true, 1, '', 'Error'),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('text', 'content', 'input', 'type', 'role', 'a"b', 'ü'), tie('any'), { maxKeys: 5 }),
  ),
})).any

test('long texts: any body comes back from its outline, printed anew or not', (t) => {
  let asides = 0
  fc.assert(
    fc.property(value, (tree) => {
      const body = { filler: 'f'.repeat(4096), tree }
      const document = documentOf(body)
      const outline = outlineOf(document)
      if (outline.document !== document) asides++
      t.deepEqual(outline.restore(outline.document.bytes), document.bytes)
      const printed = Buffer.from(JSON.stringify(JSON.parse(outline.document.bytes.toString())))
      t.deepEqual(JSON.parse(outline.restore(printed).toString()), JSON.parse(document.bytes.toString()))
    }),
    { numRuns: 500 },
  )
  t.true(asides > 5, `${asides} bodies had texts that stood aside`)
})
