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

/** What the last message becomes. */
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

test('shortener: a file that is read again after lines were added says where they stood', (t) => {
  const before = numbered(FILE)
  const after = numbered(['// new', '// new too', ...FILE])
  const messages = [call('a', 'Read', { path: 'a.ts' }), result('a', before), call('b', 'Read', { path: 'a.ts' })]
  t.is(
    shortened([...messages, result('b', after)]),
    '1→// new\n2→// new too\n[lines 3–42 as lines 1–40 in the earlier Read a.ts: “export const value0 = 0” … “export const value39 = 39”]',
  )
})

test('shortener: what a tool was given to write is known when it is read', (t) => {
  const content = FILE.join('\n')
  const messages = [
    call('a', 'Write', { path: 'a.ts', content }),
    result('a', 'ok'),
    call('b', 'Read', { path: 'a.ts' }),
  ]
  t.regex(
    shortened([...messages, result('b', numbered(FILE))]) ?? '',
    /^\[lines 1–40 as in the earlier input of Write: /,
  )
})

test('shortener: a file keeps the layout that it has, the output of a command does not', (t) => {
  const text = `{\n${FILE.map((line) => `    "${line}":   1`).join(',  \n')}\n}`
  t.is(shortened([call('a', 'Read', { path: 'a.json' }), result('a', text)]), undefined)
  t.is(shortened([call('a', 'Bash', { command: 'cat a.json' }), result('a', text)]), undefined)
  t.regex(
    shortened([call('a', 'Bash', { command: 'curl x | head' }), result('a', text)]) ?? '',
    /^\{"export const value0 = 0":1,/,
  )
})

test('shortener: tests that ran again in other times are the same, and the pointer says so; their summary stays', (t) => {
  const messages = [
    call('a', 'Bash', NPM_TEST),
    result('a', report(10)),
    call('b', 'Bash', NPM_TEST),
    result('b', report(20)),
  ]
  const text = shortened(messages, new Shortener(foldTimes)) ?? ''
  t.regex(text, /^\[40 lines as in the earlier Bash npm test, but for times: “✔ does thing number 0 \(20ms\)” … /)
  t.regex(text, /\nsummary 0 20ms\n/)
  t.is(shortened(messages), undefined)
})

test('shortener: times of anything but tests stay, and so do those of a first run', (t) => {
  const bench = (ms: number) => FILE.map((_, index) => `bench of thing number ${index}: ${ms + index} ms`).join('\n')
  const again = [call('a', 'Bash', NPM_TEST), result('a', bench(1)), call('b', 'Bash', NPM_TEST), result('b', bench(2))]
  t.is(shortened(again, new Shortener(foldTimes)), undefined)
  const same = FILE.map((_, index) => `  ✔ does one and the same thing (${index}ms)`).join('\n')
  t.is(shortened([call('a', 'Bash', NPM_TEST), result('a', same)], new Shortener(foldTimes)), undefined)
})

test('shortener: results of small size, of the assistant, of the user stay', (t) => {
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
    // Some 50 ms on an idle machine; what grows with the square takes minutes.
    t.true(performance.now() - startedAtMs < 5000)
  })
}

test('shortener: texts beyond three million characters of a conversation stay as they are, also after it was cut back', (t) => {
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
