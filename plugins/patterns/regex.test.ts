import test from 'ava'
import fc from 'fast-check'
import { ExampleIndex } from './examples.ts'
import { MatchText } from './match-text.ts'
import { compileRegex } from './regex.ts'
import { requiredLiterals } from './required-literals.ts'

const NO_EXAMPLES = new ExampleIndex([])
const matches = (source: string, text: string) => compileRegex(source)(new MatchText(text, NO_EXAMPLES))

test('regex: letters match in either case, unless the expression sets another mode', (t) => {
  t.true(matches('select', 'SELECT 1'))
  t.false(matches('(?-i)select', 'SELECT 1'))
})

for (const [source, part] of [
  ['a(?=b)', '(?='],
  ['(?<!a)b', '(?<!a)b'],
  ['(a)\\1', '\\1'],
  ['a++', '++'],
  ['(?>a)', '(?>'],
  ['a{1001}', '{1001}'],
  ['[a', 'missing closing ]'],
] as const) {
  test(`regex: ${source} is refused with the construct that is not allowed`, (t) => {
    const { message } = t.throws(() => compileRegex(source))
    t.true(message.includes(source) && message.includes(part), message)
    t.regex(message, /Lookaround, back references/)
  })
}

test('regex: a program that is too large is refused', (t) => {
  t.throws(() => compileRegex('(.{1,100}x){9}'), { message: /\d+ instructions, expected at most 1000/ })
})

test('regex: expressions that hang a backtracking engine take linear time', (t) => {
  for (const source of ['(a+)+$', '(a|a)*b', '(.*)*x', '(a?){30}a{30}', '^(([a-z])+.)+[A-Z]([a-z])+$']) {
    const test = compileRegex(source)
    const text = `${'a'.repeat(8000)}!`
    const startMs = performance.now()
    test(new MatchText(text, NO_EXAMPLES))
    // A backtracking engine needs years; the bound is for a busy machine.
    t.true(performance.now() - startMs < 2000, source)
  }
})

const literals: [source: string, literals: readonly string[] | undefined][] = [
  ['\\b(select|insert)\\b[\\s\\S]{0,200}\\bfrom\\b', ['select', 'insert']],
  ['no-?sql', ['sql']],
  ['colou?rs', ['colo']],
  ['(?i:Commit) message', [' message']],
  ['a|.', undefined],
  ['(abc)?x', ['x']],
  ['(abc)+x', ['abc']],
  ['[abc]+', undefined],
  ['(?P<n>foo)\\.bar', ['.bar']],
  ['\\x41bc', undefined],
]
for (const [source, expected] of literals) {
  test(`required literals: ${source} needs ${expected?.join(' or ') ?? 'nothing'}`, (t) => {
    t.deepEqual(requiredLiterals(source), expected)
  })
}

const leaf = fc.constantFrom(
  'a',
  'B',
  'c',
  '.',
  '\\b',
  '[ab]',
  '[^]c]',
  '\\w',
  '\\.',
  'ſ',
  'k',
  's',
  '^',
  '$',
  '\\x41',
  '(?i)',
)
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => a + b),
    fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `(${a}|${b})`),
    fc
      .tuple(tie('expression'), fc.constantFrom('?', '*', '+', '{0,2}', '{2}', '{1,}', '*?'))
      .map(([a, quantifier]) => `(?:${a})${quantifier}`),
  ),
}))

test('required literals: a text that matches has one of them', (t) => {
  const outcomes = { matched: 0, needed: 0 }
  const text = fc.string({
    unit: fc.constantFrom('a', 'A', 'b', 'c', 'C', '.', ' ', 'ſ', 'K', 'k', 's', 'S'),
    maxLength: 12,
  })
  fc.assert(
    fc.property(expression, text, (source, given) => {
      const needed = requiredLiterals(source)
      const whole = compileRegex(source, { isPrefiltered: false })
      if (!whole(new MatchText(given, NO_EXAMPLES))) return
      outcomes.matched++
      if (needed !== undefined) outcomes.needed++
      t.true(compileRegex(source)(new MatchText(given, NO_EXAMPLES)), source)
    }),
    { numRuns: 3000 },
  )
  t.true(outcomes.matched > 50 && outcomes.needed > 5, JSON.stringify(outcomes))
})
