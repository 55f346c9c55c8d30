import test from 'ava'
import fc from 'fast-check'
import { DeltaBound } from './delta-bound.ts'
import { textOf } from './stream-text.ts'
import { tokenBound } from './text-bound.ts'

/** Bounds each delta as one of a stream, from the middle of a buffer. */
function boundsOf(events: readonly string[]): number[] {
  const deltas = new DeltaBound()
  return events.map((event) => {
    const source = Buffer.from(`data: ${event}\n\n`)
    return deltas.tokens(source, 'data: '.length, source.length - 2)
  })
}
const parsed = (events: readonly string[]) => events.map((event) => tokenBound(textOf(event)))

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', '\n', '}', '1', 'é', '😀') }),
)
const delta = fc
  .record({
    index: fc.nat(1),
    member: fc.constantFrom('text', 'partial_json', 'thinking', 'signature'),
    text,
    other: fc.constantFrom({}, {}, {}, { text: 'more' }, { thinking: 'more' }),
    padding: fc.constantFrom('', '', '   '),
  })
  .map(({ index, member, text, other, padding }) =>
    JSON.stringify({
      type: 'content_block_delta',
      index,
      delta: { type: `${member}_delta`, [member]: text, ...other },
    }).concat(padding),
  )

test('delta bound: is that of the parsed text, whatever the deltas before', (t) => {
  fc.assert(
    fc.property(fc.array(delta, { minLength: 2, maxLength: 8 }), (events) => {
      t.deepEqual(boundsOf(events), parsed(events))
    }),
    { numRuns: 2000 },
  )
})

const opening = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"'
const LIKE = `${opening}words"}}`
const unlike: [claim: string, event: string][] = [
  ['a second text behind it', `${opening}a","text":"many more words"}}`],
  ['a member behind the delta', `${opening}a"},"delta":{"text":"many more words"}}`],
  ['an escape by number', `${opening}\\u00e9\\u6f22"}}`],
  ['a raw line feed', `${opening}a\nb"}}`],
  ['no end', `${opening}many words`],
  ['an end within an escape', `${opening}many words\\`],
  ['one brace', `${opening}many words"}`],
  ['two other signs behind it', `${opening}many words"]]`],
  ['three braces', `${opening}many words"}}}`],
  ['another opening', LIKE.replace('"index":0', '"index":1')],
]
for (const [claim, event] of unlike) {
  test(`delta bound: a delta with ${claim} is parsed`, (t) => {
    t.deepEqual(boundsOf([LIKE, event, LIKE]), parsed([LIKE, event, LIKE]))
  })
}

test('delta bound: with two equal texts the next one is parsed, whichever of them counts', (t) => {
  for (const [before, between] of [
    ['{"delta":{"text":"', '"},"z":{"text":"'],
    ['{"delta":{"text":"', '","thinking":"'],
  ]) {
    const events = [`${before}words${between}words"}}`, `${before}words${between}"}}`]
    t.deepEqual(boundsOf(events), parsed(events))
  }
})

test('delta bound: a delta with the opening of the one before is not parsed', (t) => {
  const { parse } = JSON
  let parses = 0
  JSON.parse = (...args) => {
    parses++
    return parse(...args)
  }
  try {
    boundsOf([LIKE, LIKE, `${opening}\\n\\""}}`, `${opening}漢"}}  `])
  } finally {
    JSON.parse = parse
  }
  t.is(parses, 1)
})
