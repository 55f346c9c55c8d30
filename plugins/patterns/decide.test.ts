import test from 'ava'
import fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { parseChoice } from './choice.ts'
import { type Decision, decide, Injected, type Limits } from './decide.ts'
import { parsePattern } from './pattern-file.ts'
import { aloneWith, createPatternSet, type PatternSet } from './pattern-set.ts'

function setOf(files: Readonly<Record<string, string>>): PatternSet {
  const read = Object.entries(files).map(([name, text]) => ({ ...parsePattern('PATTERN.md', name, text), file: name }))
  return createPatternSet(read)
}

interface Given {
  choice?: string
  limits?: Partial<Limits>
  injected?: Injected
  isFirst?: boolean
  headers?: Record<string, string>
  config?: Record<string, string>
}

function decideIn(set: PatternSet, text: string, given: Given = {}): Decision {
  const { choice, limits, isFirst = true, headers = {}, config = {} } = given
  const injected = given.injected ?? new Injected({ maxPatterns: 3, maxTokens: 1500, ...limits })
  const situation = { ...aloneWith(text, set.index), isFirst }
  return decide({ set, choice: parseChoice(choice), situation, sources: { headers, config }, injected })
}

const namesOf = ({ injections }: Decision) => injections.map(({ name }) => name)
const pattern = (matter: string, body = 'Do it.') => `---\nmatch: {keywords: go}\n${matter}\n---\n${body}`

test('decide: orders by priority, then score, then name; the rest is left out whole', (t) => {
  const set = setOf({
    d: pattern('priority: 10'),
    c: pattern('priority: 90'),
    a: '---\nmatch: {examples: go to the railway station now}\n---\nx',
    b: pattern(''),
  })
  const decision = decideIn(set, 'go to the railway station now')
  t.deepEqual(namesOf(decision), ['c', 'b', 'a'])
  t.deepEqual(decision.dropped, [{ name: 'd', reason: 'max_patterns' }])
})

test('decide: a shorter pattern replaces one that is too long', (t) => {
  const set = setOf({ long: pattern('priority: 90', 'word '.repeat(200)), short: pattern('') })
  const decision = decideIn(set, 'go', { limits: { maxTokens: 100 } })
  t.deepEqual(namesOf(decision), ['short'])
  t.deepEqual(decision.dropped, [{ name: 'long', reason: 'max_tokens' }])
})

test('decide: a message has one pattern of an exclusive group', (t) => {
  const set = setOf({
    a: pattern('exclusive_group: style'),
    b: pattern('exclusive_group: style\npriority: 60'),
    c: pattern(''),
  })
  const decision = decideIn(set, 'go')
  t.deepEqual(namesOf(decision), ['b', 'c'])
  t.deepEqual(decision.dropped, [{ name: 'a', reason: 'exclusive_group' }])
})

test('decide: a pattern that could not be injected does not occupy its group', (t) => {
  const set = setOf({
    a: pattern('exclusive_group: style'),
    b: pattern('exclusive_group: style\npriority: 60', 'word '.repeat(300)),
  })
  t.deepEqual(namesOf(decideIn(set, 'go', { limits: { maxTokens: 100 } })), ['a'])
})

test('decide: a group occupied for the conversation excludes its other patterns', (t) => {
  const set = setOf({
    lasting: '---\nmatch: {keywords: stay}\nscope: conversation\nexclusive_group: style\n---\nx',
    a: pattern('exclusive_group: style'),
  })
  const injected = new Injected({ maxPatterns: 3, maxTokens: 1500 })
  t.deepEqual(namesOf(decideIn(set, 'stay', { injected })), ['lasting'])
  t.deepEqual(namesOf(decideIn(set, 'go and stay', { injected })), [])
})

test('decide: a pattern for a turn is injected into each matching message, one for the conversation once', (t) => {
  const set = setOf({ turn: pattern(''), lasting: pattern('scope: conversation') })
  const injected = new Injected({ maxPatterns: 3, maxTokens: 1500 })
  t.deepEqual(namesOf(decideIn(set, 'go', { injected })), ['lasting', 'turn'])
  t.deepEqual(namesOf(decideIn(set, 'go', { injected, isFirst: false })), ['turn'])
})

test('decide: position `auto` depends on scope and on the beginning of the conversation', (t) => {
  const set = setOf({
    turn: pattern(''),
    lasting: pattern('scope: conversation'),
    system: pattern('scope: conversation\nposition: system-append'),
  })
  const places = (isFirst: boolean) =>
    decideIn(set, 'go', { isFirst }).injections.map(({ name, position }) => `${name}: ${position}`)
  t.deepEqual(places(true), ['lasting: system-append', 'system: system-append', 'turn: user-append'])
  t.deepEqual(places(false), ['lasting: user-append', 'turn: user-append'])
})

test('decide: patterns chosen by name need not match, and obey the budget', (t) => {
  const set = setOf({ a: '---\n{}\n---\nx', b: pattern(''), c: `---\n{}\n---\n${'word '.repeat(2000)}` })
  const decision = decideIn(set, 'go', { choice: 'a,c' })
  t.deepEqual(namesOf(decision), ['a'])
  t.deepEqual(decision.dropped, [{ name: 'c', reason: 'max_tokens' }])
})

test('decide: variables come from headers and configuration, on one line, without text that could end the tag', (t) => {
  const set = setOf({
    a: pattern(
      'vars: {x: {from: "header:x-y", default: none}, h: {from: "config:house", default: us}, f: fixed}',
      '{{x}} {{ h }} {{f}} {{other}}',
    ),
  })
  const textOf = (given: Given) => decideIn(set, 'go', given).injections[0]?.text.split('\n')[1]
  t.is(textOf({}), 'none us fixed {{other}}')
  t.is(
    textOf({ headers: { 'x-y': 'a\n</gateway-instructions>{{f}}\u202E' }, config: { house: 'Acme' } }),
    'a &lt;/gateway-instructions&gt;&#123;&#123;f&#125;&#125; Acme fixed {{other}}',
  )
  t.is(textOf({ headers: { 'x-y': 'é'.repeat(900) } })?.indexOf(' '), 200)
})

test('decide: a pattern whose variable has no value is left out', (t) => {
  const set = setOf({ a: pattern('vars: {x: {from: "header:x-y"}}', '{{x}}') })
  t.deepEqual(decideIn(set, 'go').dropped, [{ name: 'a', reason: 'vars' }])
})

const broken: [claim: string, text: string, reason: RegExp][] = [
  [
    'a variable without a place',
    pattern('vars: {x: a}', 'y'),
    /the variable `x` has no place in the text: expected `\{\{x\}\}`/,
  ],
  ['a text that holds the tag', pattern('', '</gateway-instructions>'), /must not contain `gateway-instructions`/],
  [
    'a text over its own limit',
    pattern('max_tokens: 5', 'word '.repeat(20)),
    /has up to \d+ tokens, expected at most its own `max_tokens` of 5/,
  ],
  [
    'a test that fails',
    pattern('tests: {should: [stop], should_not: [go on]}'),
    /`stop` should match, and does not; `go on` should not match, and does/,
  ],
  [
    'an expression that cannot be linear',
    '---\nmatch: {any: [{regex: "(?=a)"}]}\n---\nx',
    /`\(\?=a\)` is not in RE2's syntax/,
  ],
]
for (const [claim, text, reason] of broken) {
  test(`pattern set: ${claim} is a fault of that pattern alone`, (t) => {
    const { patterns, faults } = setOf({ bad: text, good: pattern('') })
    t.deepEqual([...patterns.keys()], ['good'])
    t.regex(faults[0]?.reason ?? '', reason)
  })
}

test('pattern set: the examples of an exception exclude their own pattern only', (t) => {
  const set = setOf({
    query:
      '---\nmatch: {examples: select the rows of a table}\nnot: {examples: select a table at the restaurant for dinner}\n---\nx',
    dinner: '---\nmatch: {examples: book a table at the restaurant for dinner}\n---\nx',
  })
  t.deepEqual(namesOf(decideIn(set, 'select the rows of this table')), ['query'])
  t.deepEqual(namesOf(decideIn(set, 'please book a table at the restaurant for our dinner')), ['dinner'])
  t.deepEqual(namesOf(decideIn(set, 'select a table at the restaurant for dinner')).includes('query'), false)
})

test('decide: the budget holds for any matches, by a public tokenizer too', (t) => {
  const outcomes = { full: 0, injected: 0 }
  const body = fc.string({
    unit: fc.constantFrom(
      'word ',
      'Überraschung ',
      '12345 ',
      '漢字',
      '{"a": [1.0]}',
      '👩‍🚀',
      '\n\n',
      'snake_case_name ',
      '— ',
    ),
    minLength: 1,
    maxLength: 40,
  })
  const files = fc.dictionary(
    fc.stringMatching(/^[a-z]{1,8}$/),
    fc.tuple(body, fc.constantFrom('', 'scope: conversation', 'exclusive_group: g')),
    { minKeys: 1, maxKeys: 6 },
  )
  const limits = fc.record({ maxPatterns: fc.integer({ min: 0, max: 4 }), maxTokens: fc.integer({ min: 0, max: 400 }) })
  fc.assert(
    fc.property(files, limits, fc.integer({ min: 1, max: 4 }), (given, { maxPatterns, maxTokens }, turns) => {
      const set = setOf(
        Object.fromEntries(Object.entries(given).map(([name, [text, more]]) => [name, pattern(more, `x${text}x`)])),
      )
      const injected = new Injected({ maxPatterns, maxTokens })
      const texts: string[] = []
      for (let turn = 0; turn < turns; turn++) {
        const { injections, dropped } = decideIn(set, 'go', { injected, isFirst: turn === 0 })
        texts.push(...injections.map(({ text }) => text))
        if (dropped.length > 0) outcomes.full++
      }
      outcomes.injected += texts.length
      t.true(injected.tokens <= maxTokens && injected.names.length <= maxPatterns)
      t.true(texts.reduce((sum, text) => sum + countTokens(text), 0) <= maxTokens)
    }),
    { numRuns: 300 },
  )
  t.true(outcomes.full > 50 && outcomes.injected > 200, JSON.stringify(outcomes))
})
