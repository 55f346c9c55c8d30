import test from 'ava'
import fc from 'fast-check'
import { lineNumbers, stripPadding } from './gutter.ts'
import { minifyJson } from './json.ts'
import { stripListing } from './listing.ts'
import { foldRepeats } from './repeats.ts'
import { stripTerminal } from './terminal.ts'

test('stripTerminal: visible text is unchanged, without colours and trailing spaces', (t) => {
  t.is(stripTerminal('\u001b[31mmake: *** Error 2\u001b[0m  \n\u001b]0;title\u0007ok\t'), 'make: *** Error 2\nok')
})

test('stripTerminal: only the last state of a progress bar remains', (t) => {
  t.is(stripTerminal(' 10%\r 50%\r100%\ndone\r\n'), '100%\ndone\n')
  t.is(stripTerminal('downloading a.tar.gz\r\u001b[Kok'), 'ok')
  t.is(stripTerminal('downloading a.tar.gz\r\u001b[2Kok'), 'ok')
})

test('stripTerminal: a carriage return removes only states that a terminal would overwrite completely', (t) => {
  const failure = 'ERROR migration 0042 failed: no such table\rok'
  t.is(stripTerminal(failure), failure)
  t.is(stripTerminal('日本語\rabc'), '日本語\rabc')
  t.is(stripTerminal('a\tb\rabcdef'), 'a\tb\rabcdef')
  t.is(stripTerminal('short\rlonger still\rmid'), 'longer still\rmid')
})

test('stripPadding: line numbers lose their padding, code keeps its own', (t) => {
  t.is(stripPadding('     9→  if (x) {\n    10→    y\n    11→  }'), '9→  if (x) {\n10→    y\n11→  }')
  t.is(stripPadding('    10 bottles\n    20 cans\n'), '    10 bottles\n    20 cans\n')
})

test('lineNumbers: first columns are line numbers only where they count up by one', (t) => {
  t.deepEqual(lineNumbers(['[File: a.py]', '7:x', '8:y', '9:z', 'bash-$']), [0, 7, 8, 9, 0])
  for (const rows of [
    ['17 | ann', '18 | bob', '31 | eve', '32 | kim'],
    ['12:30 started', '12:31 asked', '13:02 done', '14:00 left'],
    ['12:foo', '48:bar', '49:baz'],
    ['12:30 started', 'and went on', '13:02 done', 'and ended', '14:00 left'],
  ])
    t.is(lineNumbers(rows), undefined, rows[0])
})

test('stripListing: columns lose their padding, names keep their spaces', (t) => {
  t.is(
    stripListing('drwxr-xr-x   2 root root   4096 Nov 21 03:56 my  dir\nnot   a listing rw'),
    'drwxr-xr-x 2 root root 4096 Nov 21 03:56 my  dir\nnot   a listing rw',
  )
})

test('stripListing: columns equal to those of the line above become a mark, which is explained once', (t) => {
  const entry = (name: string, size = 4096) => `drwxr-xr-x   2 root root ${size} Nov 21 03:56 ${name}`
  t.is(
    stripListing([entry('a'), entry('b'), entry('c'), entry('d', 5), 'lib:', entry('e', 5), entry('f', 5)].join('\n')),
    [
      'drwxr-xr-x 2 root root 4096 Nov 21 03:56 a',
      '〃 b [〃: the columns from there to the name are those of the line above]',
      '〃 c',
      'drwxr-xr-x 2 root root 5 〃 d',
      'lib:',
      'drwxr-xr-x 2 root root 5 Nov 21 03:56 e',
      '〃 f',
    ].join('\n'),
  )
})

test('stripListing: a line with another date format is unchanged, since its columns differ', (t) => {
  const text = '-rw-r--r--  1 root root 5 2026-11-21 03:56 my a\n-rw-r--r--  1 root root 5 2026-11-21 03:56 my b'
  t.is(stripListing(text), text)
})

test('foldRepeats: three equal lines become one with their number, two stay two', (t) => {
  t.is(foldRepeats('retry\nretry\nretry\nok\nok'), 'retry [×3]\nok\nok')
})

test('minifyJson: numbers and the order of keys are unchanged', (t) => {
  t.is(
    minifyJson('{ "a": 1.0, "b": 9007199254740993, "m": { "10": "a", "2": "b" }, "e": 1e5 }\n'),
    '{"a":1.0,"b":9007199254740993,"m":{"10":"a","2":"b"},"e":1e5}',
  )
})

test('minifyJson: truncated JSON loses its blanks as far as it goes', (t) => {
  t.is(minifyJson('{\n  "a": [1,  2],\n  "b": "x  y'), '{"a":[1,2],"b":"x  y')
})

test('minifyJson: other text is unchanged', (t) => {
  for (const text of [
    '[File: /a.py (9 lines)]\n1:  x',
    '{ not json }',
    '[INFO]  started',
    '{"a": 1} and more',
    '  x',
  ]) {
    t.is(minifyJson(text), text)
  }
})

test('minifyJson: JSON in the strings of JSON loses its layout, and is still in a string', (t) => {
  const inner = JSON.stringify({ list: [1, 'two  words', { deep: '"quoted"' }] }, null, 2)
  const twice = JSON.stringify({ text: inner, inner: JSON.stringify({ text: inner }, null, 2) }, null, 2)
  const small = JSON.stringify(JSON.parse(inner))
  t.is(minifyJson(twice), JSON.stringify({ text: small, inner: JSON.stringify({ text: small }) }))
})

test('minifyJson: minifies JSON in the printed form of a Python object', (t) => {
  const long = 'words of a long answer '.repeat(8)
  const text = `content=[Text(text='{\\n  "a": {\\n    "b": "${long}",\\n    "n": 1.0\\n  }\\n}')]`
  t.is(minifyJson(text), `content=[Text(text='{"a":{"b":"${long}","n":1.0}}')]`)
})

test('minifyJson: equals a parser’s output, for JSON of any layout', (t) => {
  let laidOut = 0
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 0, max: 4 }), (value, indent) => {
      if (typeof value !== 'object' || value === null) return
      // A string that holds JSON is changed deliberately.
      const text = JSON.stringify(
        value,
        (_, member) => (typeof member === 'string' ? member.replace(/[[{]/g, '') : member),
        indent,
      )
      if (text.includes('\n')) laidOut++
      t.is(minifyJson(text), reprint(text))
    }),
    { numRuns: 300 },
  )
  t.true(laidOut > 50)
})

test('minifyJson: malformed JSON loses nothing but blanks', (t) => {
  let shortened = 0
  const damage = fc.constantFrom('', '', '{', ']', '"', '\\"', '\\n', '\n', '  ', ',', 'a', "'")
  const value = fc.array(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.json())), { minLength: 1 })
  fc.assert(
    fc.property(value, damage, fc.nat(400), (given, piece, at) => {
      const whole = JSON.stringify(given, null, 2)
      const text = whole.slice(0, at) + piece + (piece === '' ? '' : whole.slice(at))
      const after = minifyJson(text)
      if (after.length < text.length) shortened++
      t.is(withoutBlanks(after), withoutBlanks(text))
    }),
    { numRuns: 1000 },
  )
  t.true(shortened > 50)
})

function withoutBlanks(text: string): string {
  return text.replace(/\\+[nrt]|\s/g, '')
}

/** Returns the tokens of a JSON text, without blanks outside strings. */
function reprint(text: string): string {
  return text.replace(/("(?:\\.|[^"\\])*")|\s+/g, (_, string) => string ?? '')
}
