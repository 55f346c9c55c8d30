import test from 'ava'
import { mentionedIn } from './mentions.ts'
import { parseNames } from './namespaces.ts'

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
