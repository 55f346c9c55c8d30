import test from 'ava'
import { assertKnown, parseChoice } from './choice.ts'
import { compileGlobs } from './globs.ts'
import { compileKeywords } from './keywords.ts'
import { fold, plainWords, stems } from './words.ts'

test('words: folded, and forms of one word have one stem', (t) => {
  t.is(fold('  Ünïcode\n\tTEXT '), ' unicode text ')
  t.deepEqual(plainWords('a-b c2, d'), ['a', 'b', 'c2', 'd'])
  const groups = `
    query queries
    class classes
    match matches
    organization organisation organizations organize organise
    statement statements
    deploy deployed deploying deploys deployable deployment
    connect connection connections connected connecting connective
    test tests testing tested
    quick quickly
    dark darkness
    secure security
    parser parsers
    cache caches
    review reviews reviewer reviewers`
  for (const group of groups.trim().split('\n')) {
    const words = group.trim().split(' ')
    t.is(new Set(words.map((word) => stems(word).join())).size, 1, group)
  }
  t.deepEqual(stems('the parseFile of a X'), ['pars', 'file'], 'names are split, common words and letters are left out')
  t.deepEqual(stems('bus pass'), ['bus', 'pass'])
})

test('choice: names, none, or all that match; an unknown or broken one is refused', (t) => {
  t.deepEqual(parseChoice('a,b + c a'), { kind: 'named', names: ['a', 'b', 'c'] })
  t.deepEqual(parseChoice('none'), { kind: 'none' })
  t.deepEqual(parseChoice('none,a'), { kind: 'named', names: ['none', 'a'] })
  for (const text of [undefined, '', ' ,']) t.deepEqual(parseChoice(text), { kind: 'matching' })
  const set = {
    patterns: new Map([['review', {}]]),
    disabled: [{ name: 'off' }],
    faults: [{ name: 'broken' }],
  } as never // safe: what is read
  const check = (text: string) => () => assertKnown(parseChoice(text), set)
  for (const text of ['review', 'none', '']) t.notThrows(check(text))
  t.throws(check('review,reveiw'), {
    code: 'invalid_request',
    message: /`reveiw` is not known\. Did you mean `review`/,
  })
  for (const name of ['off', 'broken']) t.throws(check(name), { message: /is disabled/ })
})

test('globs: a whole text, in any case, stars for any text', (t) => {
  const rows: [glob: string, text: string, expected: boolean][] = [
    ['claude-*', 'Claude-Opus', true],
    ['claude-*', 'my-claude-x', false],
    ['*opus*', 'claude-opus-5', true],
    ['*-5', 'claude-opus-5', true],
    ['a*b*c', 'a-c-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['ab*ba', 'aba', false],
    ['plain', 'plain', true],
    ['plain', 'plainly', false],
    ['*', '', true],
  ]
  for (const [glob, text, expected] of rows) t.is(compileGlobs(['x', glob])(text), expected, `${glob} ${text}`)
})

test('keywords: whole words, without case and accents; marks at an edge need no border', (t) => {
  const has = (keyword: string, text: string) => {
    const folded = fold(text)
    return compileKeywords(['absent', keyword])({ folded, words: new Set(plainWords(folded)) } as never) // safe: what is read
  }
  const rows: [keyword: string, text: string, expected: boolean][] = [
    ['code review', 'Do a Code  Review.', true],
    ['review', 'previewing reviews', false],
    ['review', 'reviews, then review', true],
    ['résumé', 'RESUME', true],
    ['c++', 'in C++17', true],
    ['.net', 'asp.net core', true],
    ['net.', 'internet.', false],
  ]
  for (const [keyword, text, expected] of rows) t.is(has(keyword, text), expected, `${keyword}: ${text}`)
})
