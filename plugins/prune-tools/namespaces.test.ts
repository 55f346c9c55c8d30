import test from 'ava'
import { hasServers, parseNames } from './namespaces.ts'

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
