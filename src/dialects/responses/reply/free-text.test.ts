import test from 'ava'
import fc from 'fast-check'
import { freeTextOf } from './free-text.ts'

test('free text: of an input that was cut it is a beginning, wherever the cut is', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), fc.boolean(), (text, place, isEscaped) => {
        const written = JSON.stringify({ input: text })
        const json = isEscaped ? written.replace(/[^ -~]/g, escaped) : written
        const cut = json.slice(0, '{"input":"'.length + (place % (json.length - '{"input":'.length)))
        const found = freeTextOf(cut)
        t.true(found !== undefined && text.startsWith(found) && found.isWellFormed())
        t.is(freeTextOf(json), text)
      }),
    ),
  )
})

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

test('free text: there is none before the text begins, or in an input of another form', (t) => {
  for (const json of ['', '{', '{"inp', '{"input":', '{"input":5}', '{"patch":"x"}', '[]', 'x'])
    t.is(freeTextOf(json), undefined, json)
})
