import test from 'ava'
import { parsePattern } from './pattern-file.ts'

const matter = (yaml: string, body = 'Do it.') => `---\n${yaml}\n---\n${body}\n`
const read = (yaml: string, body?: string) => parsePattern('PATTERN.md', 'sql-review', matter(yaml, body))

test('pattern file: every member is read, and a single value counts as a list of one', (t) => {
  const pattern = read(`name: sql-review
description: Review SQL.
version: 3
enabled: false
priority: 70
position: user-prepend
scope: conversation
max_tokens: 400
exclusive_group: style
match:
  any: [{regex: 'a'}, {keywords: [sql, "query plan"]}, {examples: is it safe?, min_score: 0.6, margin: 1.2}]
  where: any_user
  models: "claude-*"
  tools_any: ["mcp__postgres__*"]
  headers: {X-Team: [data]}
  metadata: {user_id: ["*"]}
  min_turn: 1
not: {regex: 'no-?sql'}
vars: {dialect: {from: header:x-sql-dialect, default: postgres}, house: Acme}
tests: {should: [a], should_not: b}`)
  t.like(pattern, {
    version: '3',
    enabled: false,
    priority: 70,
    position: 'user-prepend',
    scope: 'conversation',
    body: 'Do it.',
  })
  t.deepEqual(pattern.match?.any?.[0], { regex: ['a'] })
  t.deepEqual(pattern.match?.headers, { 'x-team': ['data'] })
  t.deepEqual(pattern.match?.models, ['claude-*'])
  t.deepEqual(pattern.not, { regex: ['no-?sql'] })
  t.deepEqual(pattern.vars.house, { from: undefined, default: 'Acme' })
  t.deepEqual(pattern.tests, { should: ['a'], should_not: ['b'] })
})

test('pattern file: without front matter the whole is the text, used when requested', (t) => {
  const pattern = parsePattern('PATTERN.md', 'plain', '\uFEFF# Title\n\n---\n\nText.')
  t.like(pattern, { name: 'plain', body: '# Title\n\n---\n\nText.', match: undefined, scope: 'turn' })
})

test('pattern file: a SKILL.md loads unchanged, with any further members', (t) => {
  const source = matter(
    'name: pdf-tools\ndescription: Works on PDFs.\nlicense: MIT\nallowed-tools: Read Bash\nmetadata: {author: me}',
  )
  t.like(parsePattern('SKILL.md', 'pdf-tools', source), {
    description: 'Works on PDFs.',
    scope: 'conversation',
    match: undefined,
  })
})

test('pattern file: fabric’s system.md loads unchanged', (t) => {
  t.like(parsePattern('system.md', 'agility_story', '# IDENTITY\r\n\r\nYou…\n'), {
    name: 'agility_story',
    body: '# IDENTITY\r\n\r\nYou…',
  })
})

test('pattern file: Windows line ends are line ends', (t) => {
  t.is(parsePattern('PATTERN.md', 'a', '---\r\npriority: 1\r\n---\r\nText').priority, 1)
})

const faults: [yaml: string, reason: RegExp][] = [
  ['name: other', /its name is `other`, expected that of its folder, `sql-review`/],
  ['mach: {}', /unknown member `mach`\. Did you mean `match`\?/],
  ['match: {keyword: a}', /unknown member `match\.keyword`\. Did you mean `keywords`\?/],
  ['position: system', /position: .*"auto"\|"system-append"\|"user-append"\|"user-prepend"/],
  ['position: system-append', /position: `system-append` needs `scope: conversation`/],
  ['priority: high', /priority: .*expected number, got string/],
  ['match: {regex: []}', /match\.regex/],
  ['match: {headers: {a b: c}}', /match\.headers\["a b"\]/],
  ['vars: {key: {from: "header:X-Api-Key"}}', /this header holds a secret/],
  ['vars: {who: {from: "user:text"}}', /expected `header:<name>` or `config:<name>`/],
  ['tests: {should: [a]}', /tests: expected a `match` to test/],
  ['a: [', /the front matter is not valid YAML at line \d+, column \d+/],
]
for (const [yaml, reason] of faults) {
  test(`pattern file: ${yaml} is refused with the reason`, (t) => {
    t.regex(t.throws(() => read(yaml)).message, reason)
  })
}

test('pattern file: a missing text is an error', (t) => {
  t.throws(() => parsePattern('PATTERN.md', 'a', '---\npriority: 1\n---\n'), { message: /expected a text/ })
})
