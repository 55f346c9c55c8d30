import test from 'ava'
import type { PluginContext } from 'turnpike/plugin'
import { servicesFor } from '../../src/plugin/testing/services.ts'
import { openExchange } from '../../test/support/exchange.ts'
import redact from './index.ts'
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

test('redact: a request of a key of the team runs with its options', async (t) => {
  const parsed = options.parse({ mode: 'observe', teams: { team_a: { mode: 'block' } } })
  const { middleware } = await redact.setup(parsed, servicesFor(redact.needs, {}, []))
  const run = async (teamId: string) => {
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'I am anna@acme.io' }] }
    const caller = { kind: 'key', scope: 'key:a', teamId } as const
    const exchange = openExchange({ body: JSON.stringify(body), dialect: 'messages', caller })
    const trace = { module: 'redact', action: 'ran', durationMs: 0 }
    // A context with the members that the plugin uses.
    const context = { state: { exchange: exchange.forStep(trace) }, set: () => {} } as unknown as PluginContext
    await Promise.resolve(middleware(parsed)(context, async () => {})).catch(() => {})
    return trace.action
  }
  t.deepEqual([await run('team_a'), await run('team_b')], ['blocked', 'observed'])
})
