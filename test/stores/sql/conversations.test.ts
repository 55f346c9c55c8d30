import { EVERYBODY, type FinishedRequest, type RequestConversation } from '../../../src/core/telemetry/telemetry.ts'
import { toRow } from '../../../src/stores/sql/telemetry/rows.ts'
import type { SqlTelemetry } from '../../../src/stores/sql/telemetry/telemetry.ts'
import { sampleRequest } from '../../support/telemetry.ts'
import { engines } from './places.ts'
import { openTelemetry } from './shared-telemetry.ts'

const START_MS = 1_795_305_600_000

let made = 0

/** Conversations of a scope of its own. */
function book(telemetry: SqlTelemetry) {
  const scope = `conversations-${++made}`
  const id = (name: string) => `conv_${scope}-${name}`
  let turns = 0
  const turn = (name: string, parts: Partial<FinishedRequest> = {}, below: Partial<RequestConversation> = {}) =>
    sampleRequest({
      scope,
      startedAtMs: START_MS + ++turns,
      conversation: {
        id: id(name),
        source: 'client',
        client: 'codex',
        parentId: null,
        rootId: id(name),
        agent: null,
        turn: turns,
        ...below,
      },
      ...parts,
    })
  const put = (...requests: readonly FinishedRequest[]) => telemetry.run('telemetry.put', requests.map(toRow))
  return { scope, id, turn, put }
}

for (const engine of engines) {
  engine.test('conversations: sums are those of the turns, however often they are sent', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const { scope, id, turn, put } = book(telemetry)
    const first = turn('main')
    const second = turn('main', { modelServed: 'other', tokens: { ...first.tokens!, cacheRead: 500 } })
    const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 }
    const failed = turn('main', { status: 529, outcome: 'error', tokens: none, costNanoUsd: null, costs: null })
    await put(first, second)
    await put(first, second, failed)
    const [run, ...others] = await telemetry.runs(scope, { limit: 10 })
    t.deepEqual(others, [])
    t.like(run, {
      id: id('main'),
      client: 'codex',
      firstAtMs: first.startedAtMs,
      lastAtMs: failed.startedAtMs,
      newestId: failed.id,
      contextTokens: 512,
      models: ['anthropic/other', 'anthropic/claude-sonnet-4-5'],
      agentCount: 0,
      agents: [],
    })
    t.like(run?.totals, { turns: 3, errors: 1, unpriced: 1, costNanoUsd: 156_000, savedNanoUsd: 44_000 })
    t.is(
      Object.values(run?.totals.costs ?? {}).reduce((sum, each) => sum + each),
      156_000,
    )
    t.deepEqual(run?.runTotals, run?.totals)
  })

  engine.test('conversations: sub-agents are below the run that they belong to', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const { scope, id, turn, put } = book(telemetry)
    const below = (parent: string, agent: string) => ({ parentId: id(parent), rootId: id('main'), agent })
    const main = turn('main')
    const child = turn('child', {}, below('main', 'explore'))
    const other = turn('alone')
    const nested = turn('nested', {}, below('child', 'grep'))
    await put(main, child, other, nested)
    const runs = await telemetry.runs(scope, { limit: 10 })
    t.deepEqual(
      runs.map((run) => [run.id, run.agentCount, run.totals.turns, run.runTotals.turns, run.newestId]),
      [
        [id('main'), 2, 1, 3, nested.id],
        [id('alone'), 0, 1, 1, other.id],
      ],
    )
    t.deepEqual(
      runs[0]?.agents.map((each) => [each.id, each.parentId, each.agent]),
      [
        [id('nested'), id('child'), 'grep'],
        [id('child'), id('main'), 'explore'],
      ],
    )
    t.like(await telemetry.findRun(scope, id('child')), {
      id: id('child'),
      agentCount: 1,
      agents: [{ id: id('nested') }],
    })
    t.deepEqual(await telemetry.agentIds(scope, id('main'), { limit: 10 }), [id('child'), id('nested')])
    t.deepEqual(await telemetry.agentIds(scope, id('child'), { limit: 10 }), [id('nested')])
    t.deepEqual(await telemetry.agentIds(scope, id('main'), { limit: 10, after: id('child') }), [id('nested')])
  })

  engine.test('conversations: a run whose own turns are not there is listed by its sub-agents', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const { scope, id, turn, put } = book(telemetry)
    await put(turn('child', {}, { parentId: id('main'), rootId: id('main'), agent: 'explore' }))
    const [run] = await telemetry.runs(scope, { limit: 10 })
    t.like(run, { id: id('main'), agentCount: 1, client: 'codex', models: [] })
    t.is(run?.totals.turns, 0)
    t.is(run?.runTotals.turns, 1)
    t.like(await telemetry.findRun(scope, id('main')), { id: id('main'), agentCount: 1 })
  })

  engine.test('conversations: turns have their number and the running total on every page', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const { scope, id, turn, put } = book(telemetry)
    const sent = Array.from({ length: 7 }, () => turn('main', { isStream: true, firstByteMs: 10, totalMs: 1010 }))
    await put(...sent.toReversed())
    const seen: unknown[][] = []
    for (let after: string | undefined; ; ) {
      const page = await telemetry.turns(scope, id('main'), { after, limit: 3 })
      seen.push(...page.map((each) => [each.id, each.number, each.runningNanoUsd]))
      if (page.length < 3) break
      after = page.at(-1)?.id
    }
    t.deepEqual(
      seen,
      sent.map((each, index) => [each.id, index + 1, 78_000 * (index + 1)]),
    )
    const [first] = await telemetry.turns(scope, id('main'), { limit: 1 })
    t.like(first, { contextTokens: 14, tokensPerSecond: 3 })
    t.deepEqual(first?.trace, sent[0]?.trace)
  })

  engine.test('conversations: those of other scopes are not found', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const { scope, id, turn, put } = book(telemetry)
    await put(turn('main'), turn('child', {}, { parentId: id('main'), rootId: id('main') }))
    const reads = async (scopes: Parameters<SqlTelemetry['runs']>[0]) => [
      (await telemetry.runs(scopes, { limit: 500, text: id('main') })).length,
      (await telemetry.findRun(scopes, id('main'))) !== undefined,
      (await telemetry.turns(scopes, id('main'), { limit: 10 })).length,
      (await telemetry.agentIds(scopes, id('main'), { limit: 10 })).length,
    ]
    const all = [1, true, 1, 1]
    t.deepEqual(await reads(scope), all)
    t.deepEqual(await reads(['another', scope]), all)
    t.deepEqual(await reads(EVERYBODY), all)
    for (const scopes of ['another', ['another'], []]) t.deepEqual(await reads(scopes), [0, false, 0, 0])
  })

  engine.test('conversations: a search finds runs by any of their conversations, page by page', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const { scope, id, turn, put } = book(telemetry)
    const child = (name: string) =>
      turn(`child-of-${name}`, {}, { rootId: id(name), parentId: id(name), agent: 'Grep_1' })
    await put(...['a', 'b', 'c'].flatMap((name) => [turn(name), child(name)]), turn('d', { modelServed: 'gpt' }))
    const found = async (page: Partial<Parameters<SqlTelemetry['runs']>[1]>) =>
      (await telemetry.runs(scope, { limit: 10, ...page })).map((run) => run.id)
    t.deepEqual(await found({}), ['d', 'c', 'b', 'a'].map(id))
    t.deepEqual(await found({ text: 'grep_' }), ['c', 'b', 'a'].map(id))
    t.deepEqual(await found({ text: 'GPT' }), [id('d')])
    t.deepEqual(await found({ client: 'opencode' }), [])
    t.deepEqual(await found({ fromMs: START_MS + 5 }), ['d', 'c'].map(id))
    const [, second] = await telemetry.runs(scope, { limit: 2 })
    t.deepEqual(await found({ after: second?.newestId }), ['b', 'a'].map(id))
  })
}
