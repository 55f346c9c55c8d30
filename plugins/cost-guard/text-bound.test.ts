import test from 'ava'
import { parseJson, valueAt } from '../../test/support/json.ts'
import { loadRecordings } from '../../test/support/recordings.ts'
import { textOf } from './stream-text.ts'
import { tokenBound } from './text-bound.ts'

const bounds: [text: string, tokens: number][] = [
  ['', 0],
  ['words', 3],
  ['1234', 4],
  ['{"a":1}', 7],
  ['é', 2],
  ['漢', 3],
  ['😀', 6],
]
for (const [text, tokens] of bounds) {
  test(`text bound: ${JSON.stringify(text)} has at most ${tokens} tokens`, (t) => t.is(tokenBound(text), tokens))
}

test('text bound: more text never has less', (t) => {
  const text = 'Some words, 12 numbers; é 漢 and {"json": [1.0]}'
  for (let end = 1; end <= text.length; end++)
    t.true(tokenBound(text.slice(0, end)) >= tokenBound(text.slice(0, end - 1)))
})

test('text bound: no recorded stream has more tokens than its text allows', (t) => {
  const { items, absent } = loadRecordings()
  if (absent !== undefined) {
    t.log(absent)
    return t.pass()
  }
  let seen = 0
  for (const { name, request, response } of items) {
    // A refused model's text is billed but not in the stream; thinking is summarised.
    const isHidden = name.includes('fallback') || valueAt(parseJson(request.body.toString()), 'thinking') !== undefined
    if (!response.isStream || isHidden) continue
    const events = [...response.bytes.toString().matchAll(/^data: ?(.*)$/gm)].map(([, data = '']) => data)
    const bound = events
      .filter((data) => /"type": ?"content_block_(start|delta)"/.test(data))
      .reduce((sum, data) => sum + tokenBound(textOf(data)), 0)
    const counts = events.map((data) => Number(valueAt(parseJson(data), 'usage.output_tokens') ?? 0))
    t.true(bound >= Math.max(...counts), `${name}: ${bound} of ${Math.max(...counts)}`)
    seen++
  }
  t.true(seen > 5)
})
