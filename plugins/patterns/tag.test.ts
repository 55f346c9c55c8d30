import test from 'ava'
import fc from 'fast-check'
import { isImitating, neutralised } from './tag.ts'

const meaningOf = (raw: string) => JSON.parse(raw) as string
const harmlessOf = (raw: string) => neutralised(meaningOf(raw), Buffer.from(raw)).toString()

test('tag: the word alone is not an imitation', (t) => {
  for (const text of ['gateway-instructions', '< gateway', 'a <b>gateway-instructions</b>'])
    t.false(isImitating(text), text)
})

for (const [raw, harmless] of [
  ['"\\u00e9 <gateway-instructions>"', '"\\u00e9 &lt;gateway-instructions>"'],
  ['"\\u00e9 \\u003c/gateway-instructions>"', '"\\u00e9 &lt;/gateway-instructions>"'],
  ['"< / Gateway-Instructions >"', '"&lt; / Gateway-Instructions >"'],
  ['"<\\u200bgateway-instructions>"', '"&lt;\u200bgateway-instructions>"'],
  ['"<\\ngateway-instructions>"', '"&lt;\\ngateway-instructions>"'],
  ['"<gatewa\\u0079-instructions>"', '"&lt;gateway-instructions>"'],
] as const) {
  test(`tag: ${raw} is neutralised`, (t) => {
    t.true(isImitating(meaningOf(raw)))
    t.is(harmlessOf(raw), harmless)
  })
}

test('tag: an escaped backslash before it is unchanged', (t) => {
  t.false(isImitating(meaningOf('"\\\\u003cgateway-instructions>"')))
  t.is(
    meaningOf(harmlessOf('"\\\\u003cgateway-instructions> <gateway-instructions>"')),
    '\\u003cgateway-instructions> &lt;gateway-instructions>',
  )
})

test('tag: any neutralised text imitates nothing, and otherwise keeps its meaning', (t) => {
  let imitations = 0
  const unit = fc.constantFrom(
    '<',
    '/',
    ' ',
    '\\n',
    '\\u003c',
    '\\\\',
    'gateway-instructions',
    'GATEWAY-instructions',
    '>',
    '\\"',
    'ü',
    '&lt;',
  )
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (inside) => {
      const text = meaningOf(`"${inside}"`)
      if (!isImitating(text)) return
      imitations++
      const after = meaningOf(harmlessOf(`"${inside}"`))
      t.false(isImitating(after))
      t.is(after.replaceAll('&lt;', '<'), text.replaceAll('&lt;', '<'))
    }),
    { numRuns: 2000 },
  )
  t.true(imitations > 10, String(imitations))
})
