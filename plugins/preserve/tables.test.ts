import test from 'ava'
import { compile, isQuicklyCompiled } from './expression.ts'
import { matchesIn, pinsIn } from './matches.ts'
import { options, type PreserveOptions } from './options.ts'
import { rulesOf, withHeader } from './rules.ts'

const given = (one: object): PreserveOptions => options.parse(one)

test('rules: each source only adds', (t) => {
  const operators = given({
    pins: false,
    tools: ['a', 'b'],
    ranges: '1-2',
    pattern: 'x',
    patterns: ['y'],
    last_turns: 3,
  })
  const callers = given({ pins: true, tools: 'b, c*', ranges: ['7'], pattern: 'z', last_turns: 1 })
  const rules = rulesOf(operators, callers)
  t.deepEqual(rules, {
    pins: true,
    tools: ['a', 'b', 'c*'],
    ranges: ['1-2', '7'],
    patterns: ['x', 'y', 'z'],
    lastTurns: 3,
  })
  t.is(rulesOf(given({ last_turns: 1 }), given({ last_turns: 2, pins: false })).lastTurns, 2)
  t.true(rulesOf(given({}), given({ pins: false })).pins)
  t.false(rulesOf(given({ pins: false }), given({ pins: false })).pins)
  t.deepEqual(withHeader(rules, 'tools=d%2Ce&ranges=9-&pattern=w&last_turns=5'), {
    ...{
      pins: true,
      tools: ['a', 'b', 'c*', 'd', 'e'],
      ranges: ['1-2', '7', '9-'],
      patterns: ['x', 'y', 'z', 'w'],
      lastTurns: 5,
    },
  })
  t.is(withHeader(rules, 'last_turns=1').lastTurns, 3)
  t.deepEqual(withHeader(rules, ['tools=d', 'ranges=9']).ranges, ['1-2', '7', '9'])
  for (const header of [
    'novel=1',
    'last_turns=x',
    'last_turns=-1',
    'last_turns=1001',
    'ranges=a',
    'pattern=(',
    'pins=true',
    `tools=${'x'.repeat(4000)}`,
  ])
    t.throws(() => withHeader(rules, header), { code: 'invalid_request' }, header.slice(0, 20))
})

test('options: ranges of messages', (t) => {
  const isValid = (ranges: unknown) => options.safeParse({ ranges }).success
  for (const ranges of ['0-3', '7', '12-', '1, 2-3', ['1', '2-']]) t.true(isValid(ranges), String(ranges))
  for (const ranges of ['', '-3', 'a', '1,', '1234567', ['1,2'], Array(51).fill('1')])
    t.false(isValid(ranges), String(ranges).slice(0, 20))
})

test('matches: adjacent ones are one, empty ones none, and each is reported', (t) => {
  let calls = 0
  const found = matchesIn(['aab-ab', 'none', ''], compile('a|b|(?:)'), () => calls++)
  t.deepEqual(found, [
    [
      [0, 3],
      [4, 6],
    ],
    [],
    [],
  ])
  t.true(calls > 3)
  t.throws(() => matchesIn(['x'.repeat(4_000_001)], compile('x'), () => {}), { message: /characters of one text/ })
  t.throws(() => matchesIn(['x '.repeat(10_001)], compile('x'), () => {}), { message: /at most 10000 texts/ })
  t.is(matchesIn(['x '.repeat(10_000)], compile('x'), () => {})[0]?.length, 10_000)
})

test('pins: with their tags, to the end of the text where one is not closed', (t) => {
  t.deepEqual(pinsIn(['a<keep>b</keep>c<keep>d', 'none', '<keep>a</keep><keep>b</keep>', '</keep><keep>']), [
    [
      [1, 15],
      [16, 23],
    ],
    [],
    [[0, 28]],
    [[7, 13]],
  ])
})

test('expressions: those that compile within a millisecond are known by their text', (t) => {
  for (const source of ['abc', '(?:a|b)', 'a{3,99}', String.raw`\d+\.(x)`]) t.true(isQuicklyCompiled(source), source)
  for (const source of ['(?i)abc', String.raw`\p{L}`, String.raw`\PL`, 'a{500}b', 'a{9}{9}{9}', '(?P<n>a)'])
    t.false(isQuicklyCompiled(source), source)
  t.throws(() => compile('(?=a)'), { message: /RE2’s syntax/ })
  t.throws(() => compile('(?:abcdefghij){150}'), { message: /at most 1000 instructions/ })
})
