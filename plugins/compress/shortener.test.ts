import test from 'ava'
import type { Message } from 'turnpike/plugin'
import { foldTimes } from './fold-times.ts'
import { Shortener } from './shortener.ts'

const call = (id: string, name: string, input: Record<string, unknown>): Message => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name, input }],
})
const result = (id: string, content: string): Message => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content }],
})

/** Returns the new text of the last message. */
function shortened(messages: readonly Message[], shortener = new Shortener()): string | undefined {
  return messages.map((message) => shortener.next(message)).at(-1)?.[0]?.text
}

const FILE = Array.from({ length: 40 }, (_, index) => `export const value${index} = ${index}`)
const numbered = (lines: readonly string[], first = 1) =>
  lines.map((line, index) => `${first + index}→${line}`).join('\n')
const NPM_TEST = { command: 'npm test' }
const report = (ms: number) => {
  const lines = FILE.map((_, index) => `  ✔ does thing number ${index} (${ms + index}ms)`)
  return [...lines, ...Array.from({ length: 12 }, (_, index) => `summary ${index} ${ms}ms`)].join('\n')
}

test('shortener: a file read again after lines were added points to their former numbers', (t) => {
  const before = numbered(FILE)
  const after = numbered(['// new', '// new too', ...FILE])
  const messages = [call('a', 'Read', { path: 'a.ts' }), result('a', before), call('b', 'Read', { path: 'a.ts' })]
  t.is(
    shortened([...messages, result('b', after)]),
    '1→// new\n2→// new too\n[lines 3–42 as lines 1–40 in the earlier Read a.ts: “3→export const value0 = 0” … “42→export const value39 = 39”]',
  )
})

test('shortener: text that a tool has written is found when it is read', (t) => {
  const content = FILE.join('\n')
  const messages = [
    call('a', 'Write', { path: 'a.ts', content }),
    result('a', 'ok'),
    call('b', 'Read', { path: 'a.ts' }),
  ]
  t.regex(
    shortened([...messages, result('b', numbered(FILE))]) ?? '',
    /^\[lines 1–40 as in the earlier input of Write a\.ts: “1→/,
  )
})

test('shortener: a file keeps its layout, a command’s output does not', (t) => {
  const text = `{\n${FILE.map((line) => `    "${line}":   1`).join(',  \n')}\n}`
  t.is(shortened([call('a', 'Read', { path: 'a.json' }), result('a', text)]), undefined)
  t.is(shortened([call('a', 'Bash', { command: 'cat a.json' }), result('a', text)]), undefined)
  t.regex(
    shortened([call('a', 'Bash', { command: 'curl x | head' }), result('a', text)]) ?? '',
    /^\{"export const value0 = 0":1,/,
  )
})

test('shortener: test runs that differ in times only are equal, as the pointer states; their summary remains', (t) => {
  const messages = [
    call('a', 'Bash', NPM_TEST),
    result('a', report(10)),
    call('b', 'Bash', NPM_TEST),
    result('b', report(20)),
  ]
  const text = shortened(messages, new Shortener(foldTimes)) ?? ''
  t.regex(text, /^\[40 lines as in the earlier Bash npm test, but for times: “✔ does thing number 0 \(10ms\)” … /)
  t.regex(text, /\nsummary 0 20ms\n/)
  t.is(shortened(messages), undefined)
})

test('shortener: times of other commands and of a first run remain', (t) => {
  const bench = (ms: number) => FILE.map((_, index) => `bench of thing number ${index}: ${ms + index} ms`).join('\n')
  const again = [call('a', 'Bash', NPM_TEST), result('a', bench(1)), call('b', 'Bash', NPM_TEST), result('b', bench(2))]
  t.is(shortened(again, new Shortener(foldTimes)), undefined)
  const same = FILE.map((_, index) => `  ✔ does one and the same thing (${index}ms)`).join('\n')
  t.is(shortened([call('a', 'Bash', NPM_TEST), result('a', same)], new Shortener(foldTimes)), undefined)
})

test('shortener: a pointer names one of several runs of a command', (t) => {
  const pass = report(10)
  const fail = pass.replace('✔ does thing number 20', '✖ does thing number 20')
  const runs = [pass, fail, pass].flatMap((text, index) => [
    call(`${index}`, 'Bash', NPM_TEST),
    result(`${index}`, text),
  ])
  t.is(
    shortened(runs),
    '[52 lines as in the earlier Bash npm test (1st of 2): “✔ does thing number 0 (10ms)” … “summary 11 10ms”]',
  )
  t.regex(
    shortened(runs.slice(0, 4)) ?? '',
    /^\[20 lines as in the earlier Bash npm test: .*\n {2}✖ .*\n\[31 lines as /,
  )
})

test('shortener: labels have the arguments that distinguish calls', (t) => {
  const read = (id: string, offset: number) => call(id, 'Read', { path: 'a.ts', offset })
  const other = numbered(
    FILE.map((line) => line.replace('value', 'other')),
    100,
  )
  const messages = [read('a', 1), result('a', numbered(FILE)), read('b', 100), result('b', other), read('c', 1)]
  t.regex(
    shortened([...messages, result('c', numbered(FILE))]) ?? '',
    /^\[lines 1–40 as in the earlier Read a\.ts offset=1: /,
  )
})

test('shortener: no pointer replaces or targets an error', (t) => {
  const text = FILE.join('\n')
  const failed = (id: string): Message => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, is_error: true, content: text }],
  })
  const [first, second] = [call('a', 'run', {}), call('b', 'run', {})]
  t.is(shortened([first, result('a', text), second, failed('b')]), undefined)
  t.is(shortened([first, failed('a'), second, result('b', text)]), undefined)
  for (const error of [
    `${text}\nError: no such table`,
    `Traceback (most recent call last):\n${text}`,
    `${text}\nexit code 1`,
  ])
    t.is(shortened([first, result('a', text), second, result('b', error)]), undefined, error.slice(0, 20))
})

test('shortener: a text for which a pointer would save fewer than some 100 tokens is unchanged', (t) => {
  const short = FILE.slice(0, 8).join('\n')
  t.is(shortened([call('a', 'run', {}), result('a', short), call('b', 'run', {}), result('b', short)]), undefined)
})

test('shortener: in JSON a pointer replaces whole elements of a list, never part of a value', (t) => {
  const rows = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({
      id: from + index,
      name: `the name of row ${from + index}`,
      size: 7 * index,
    }))
  const before = JSON.stringify({ rows: rows(0, 30) })
  const again = [call('a', 'query', { sql: '1' }), result('a', before), call('b', 'query', { sql: '2' })]
  const text = shortened([...again, result('b', JSON.stringify([{ id: -1 }, ...rows(0, 30), { id: 99 }]))]) ?? ''
  t.regex(text, /^\[\{"id":-1\},.*\[\d+ characters as in the earlier query 1: “\{"id":\d+,"name".*\{"id":99\}\]$/)
  const inString = (lines: readonly string[]) => JSON.stringify({ text: lines.join('. ') })
  const prose = [call('a', 'query', {}), result('a', inString(FILE)), call('b', 'query', {})]
  t.is(shortened([...prose, result('b', inString(['new', ...FILE, 'new']))]), undefined)
})

const CONFIG = `{\n${FILE.map((line) => `    "${line}":   1`).join(',  \n')}\n}`
const FILE_READERS: readonly (readonly [string, Record<string, unknown>])[] = [
  ['readFile', { name: 'a' }],
  ['get_file_contents', { owner: 'x' }],
  ['str_replace_based_edit_tool', { command: 'view', path: 'a.json' }],
  ['shell', { command: ['bash', '-lc', 'cat a.json'] }],
  ['Bash', { command: 'cd x && git show HEAD:a.json' }],
  ['Bash', { command: 'git -C lib diff' }],
  ['Bash', { command: 'find . -name a.json -exec cat {} +' }],
  ['exec', { cmd: 'python -c "print(open(\'a.json\').read())"' }],
  ['load', { what: 'config/a.json' }],
]

for (const [name, input] of FILE_READERS) {
  test(`shortener: a file keeps its layout when it is read by ${name} ${JSON.stringify(input)}`, (t) => {
    t.is(shortened([call('a', name, input), result('a', CONFIG)]), undefined)
  })
}

test('shortener: text equal to a file that was read or written keeps its layout, with any tool', (t) => {
  const shown = [call('b', 'recall', { what: 'the settings' }), result('b', CONFIG.replace('value3', 'value_three'))]
  t.regex(shortened(shown) ?? '', /^\{"export const value0 = 0":1,/)
  const written = [call('a', 'Write', { where: 'a', content: CONFIG }), result('a', 'ok')]
  t.regex(shortened([...written, ...shown]) ?? 'stays', /^(?:stays|\{\n)/)
})

test('shortener: a diff keeps its layout with any tool', (t) => {
  const diff = `diff --git a/a b/a\n@@ -1,40 +1,40 @@\n${FILE.map((line) => ` ${line}   `).join('\n')}`
  t.is(shortened([call('a', 'changes', {}), result('a', diff)]), undefined)
})

test('shortener: short results and texts of assistant and user are unchanged', (t) => {
  const text = `${FILE.join('   \n')}   \n`
  for (const message of [
    result('x', 'ok   '),
    { role: 'user' as const, content: text },
    { role: 'assistant' as const, content: text },
  ]) {
    t.deepEqual(new Shortener().next(message), [])
  }
})

const HUGE = 200_000
const HOSTILE: Readonly<Record<string, string>> = {
  'one long run of blanks': `a${' '.repeat(HUGE)}b\r\n`,
  'one long line with a carriage return': `${'x'.repeat(HUGE)}\n\ry`,
  'strings that hold the beginning of JSON': `[${'"[\\"x",'.repeat(HUGE / 8)}1]`,
  'beginnings of JSON in quotes': `x ${"'{\\n".repeat(HUGE / 4)}`,
  'brackets only': '['.repeat(HUGE),
  'two lines in turn': 'the first of two lines\nthe second of two lines\n'.repeat(HUGE / 40),
  'the same test in other times': Array.from({ length: 10_000 }, (_, ms) => `✔ the same test again (${ms}ms)`).join(
    '\n',
  ),
  'colours that do not end': '\u001b]'.repeat(HUGE / 2),
}

for (const [name, text] of Object.entries(HOSTILE)) {
  test(`shortener: takes no long time for ${name}`, (t) => {
    const shortener = new Shortener(foldTimes)
    const startedAtMs = performance.now()
    for (const id of ['a', 'b']) shortened([call(id, 'Bash', { command: 'x' }), result(id, text)], shortener)
    // Some 50 ms on an idle machine; quadratic work takes minutes.
    t.true(performance.now() - startedAtMs < 5000)
  })
}

test('shortener: texts beyond three million characters of a conversation are unchanged, also after a cut back', (t) => {
  const huge = 'a line that is repeated\n'.repeat(140_000)
  const file = numbered(FILE)
  const again = [call('a', 'Read', { path: 'a.ts' }), result('a', file), call('b', 'Read', { path: 'a.ts' })]
  const shortener = new Shortener()
  t.truthy(shortened([...again, result('b', file)], shortener))
  t.is(shortened([call('c', 'Bash', {}), result('c', huge)], shortener), undefined)
  t.truthy(shortened([call('d', 'Read', { path: 'a.ts' }), result('d', file)], shortener))
  const almost = huge.slice(0, 2_990_000)
  const full = new Shortener()
  t.truthy(shortened([call('c', 'Bash', {}), result('c', almost)], full))
  t.is(shortened([...again, result('b', numbered([...FILE, ...FILE, ...FILE]).repeat(4))], full), undefined)
  full.cutBack(0)
  t.truthy(shortened([...again, result('b', file)], full))
})
