import test from 'ava'
import { LiteralFinder } from './literals.ts'
import { options } from './options.ts'
import { PatternFinder } from './patterns.ts'
import { policiesOf } from './policy.ts'

const finders = { words: new LiteralFinder([]), patterns: new PatternFinder([]) }

test('redact: the strictest of all, of the team and of the request counts', (t) => {
  const teams = { team_a: { mode: 'block', kinds: ['host'] }, team_b: { kinds: 'iban' } }
  const operators = options.parse({ mode: 'redact', kinds: ['email'], teams })
  const kindsFound = (teamId: string | undefined, effective = operators) => {
    const { mode, createScan } = policiesOf(operators, effective, finders)(teamId)
    const found = createScan()('anna@acme.io 10.1.2.3 DE89370400440532013000').map(({ kind }) => kind)
    return [mode, ...found]
  }
  t.deepEqual(kindsFound(undefined), ['redact', 'email'])
  t.deepEqual(kindsFound('team_c'), ['redact', 'email'])
  t.deepEqual(kindsFound('team_a'), ['block', 'email', 'host'])
  t.deepEqual(kindsFound('team_b'), ['redact', 'email', 'iban'])
  const weaker = options.parse({ mode: 'observe', kinds: ['email'] })
  t.deepEqual(kindsFound('team_a', weaker), ['block', 'email', 'host'])
  const stricter = options.parse({ mode: 'block', kinds: ['iban'] })
  t.deepEqual(kindsFound('team_b', stricter), ['block', 'email', 'iban'])
})

test('redact: options of a team need its id', (t) => {
  for (const teams of [{ Research: { mode: 'block' } }, { team_a: { mode: 'none' } }, { team_a: { unread: 'pass' } }])
    t.false(options.safeParse({ teams }).success, JSON.stringify(teams))
})
