import test from 'ava'
import { mentionedIn } from './mentions.ts'
import { hasServers, parseNames } from './namespaces.ts'
import { ToolLists } from './tool-list.ts'
import { loadVectors } from './words/vectors.ts'

const MB = 1024 * 1024
const PROPERTIES = 900

/** Returns a distinct list of `count` tools with many parameters. */
function list(number: number, count = 10): Buffer {
  const properties = Object.fromEntries(Array.from({ length: PROPERTIES }, (_, i) => [`p${number}x${i}`, {}]))
  const tools = Array.from({ length: count }, (_, i) => ({
    name: `t${i}`,
    input_schema: { type: 'object', properties },
  }))
  return Buffer.from(JSON.stringify(tools))
}

test('tool lists: evict the least recently used to stay within their bound', (t) => {
  const lists = new ToolLists({ vectors: loadVectors(), isAlwaysIncluded: () => false, maxBytes: 32 * MB })
  const all = Array.from({ length: 20 }, (_, number) => list(number))
  const made = all.map((raw) => lists.read(raw))
  const kept = made.slice(-lists.size)
  t.true(kept.length >= 2 && kept.length < all.length, `${kept.length}`)
  t.true(kept.reduce((sum, one) => sum + (one?.bytes ?? 0), 0) <= 16 * MB)
  t.is(lists.read(all.at(-1) as Buffer), made.at(-1))
  t.not(lists.read(all[0] as Buffer), made[0])
})

test('tool lists: one that is too large for the cache is indexed all the same', (t) => {
  const lists = new ToolLists({ vectors: loadVectors(), isAlwaysIncluded: () => false, maxBytes: 8 * MB })
  t.is(lists.read(list(0, 60))?.tools.length, 60)
  t.is(lists.size, 0)
})

test('tool lists: the first words of a tool with thousands of parameters count', (t) => {
  const properties = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`word${i}`, {}]))
  const lists = new ToolLists({ vectors: loadVectors(), isAlwaysIncluded: () => false, maxBytes: 8 * MB })
  const made = lists.read(Buffer.from(JSON.stringify([{ name: 't', input_schema: { type: 'object', properties } }])))
  t.true((made?.tools[0]?.terms.size ?? 0) <= 1001)
})

const spaces = (...names: string[]) => parseNames(names).map(({ namespace }) => namespace)

for (const [name, namespace, bare] of [
  ['mcp__github__create_issue', 'github', 'create_issue'],
  ['mcp__claude_ai_Mail__send__now', 'claude_ai_Mail', 'send__now'],
  ['github__create_issue', 'github', 'create_issue'],
  ['github.create_issue', 'github', 'create_issue'],
  ['github/create_issue', 'github', 'create_issue'],
  ['create_issue', undefined, 'create_issue'],
  ['Bash', undefined, 'Bash'],
  ['', undefined, ''],
] as const) {
  test(`namespaces: ${name || '(no name)'} is of ${namespace ?? 'no server'}`, (t) => {
    t.deepEqual(parseNames([name]), [{ full: name, namespace, bare }])
  })
}

test('namespaces: a dash separates where three tools share a prefix that is not a verb', (t) => {
  t.deepEqual(spaces('notion-search', 'notion-update_page', 'notion-move'), ['notion', 'notion', 'notion'])
  t.deepEqual(spaces('notion-search', 'notion-move'), [undefined, undefined])
  t.deepEqual(spaces('get-user', 'get-team', 'get-issue'), [undefined, undefined, undefined])
})

test('namespaces: a list has servers when names have MCP clients’ form, or mostly a prefix', (t) => {
  const has = (...names: string[]) => hasServers(parseNames(names))
  t.true(has('Bash', 'Read', 'Edit', 'mcp__a__b'))
  t.true(has('a.b', 'c'))
  t.false(has('a.b', 'c', 'd'))
  t.false(has('a', 'b'))
  t.false(has())
})

const names = ['mcp__git__create_issue', 'mcp__git__search', 'readFile', 'time', 'get-user']
const tools = parseNames(names).map((name) => ({ name }))

for (const [text, expected] of [
  ['Call mcp__git__create_issue.', ['mcp__git__create_issue']],
  ['Call create_issue, then readFile; get-user: no.', ['mcp__git__create_issue', 'readFile', 'get-user']],
  ['What time is it? I search for it, and create issues.', []],
  ['Use `time` or "search".', ['mcp__git__search', 'time']],
  ['create_issues', []],
  ['', []],
] as const) {
  test(`mentions: ${JSON.stringify(text)} names ${expected.length}`, (t) => {
    t.deepEqual([...mentionedIn(text, tools)].map((i) => names[i]).sort(), [...expected].sort())
  })
}

const LONG = 300_000
for (const [kind, text] of [
  ['letters', 'a'.repeat(LONG)],
  ['capitals', 'A'.repeat(LONG)],
  ['dashes', `${'-'.repeat(LONG)}a`],
  ['dots', 'a.'.repeat(LONG)],
  ['quotes', '"a'.repeat(LONG)],
]) {
  test(`mentions: a long run of ${kind} is scanned once`, (t) => {
    const startMs = performance.now()
    t.is(mentionedIn(text ?? '', tools).size, 0)
    t.true(performance.now() - startMs < 20_000)
  })
}
