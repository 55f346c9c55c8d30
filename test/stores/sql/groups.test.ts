import fc from 'fast-check'
import { scopeOfKey } from '../../../src/core/request/caller.ts'
import { EVERYBODY, type FinishedRequest } from '../../../src/core/telemetry/telemetry.ts'
import {
  DIMENSIONS,
  type Dimension,
  GROUPS,
  type GroupBy,
  modulesOf,
  WITHOUT,
} from '../../../src/core/telemetry/usage.ts'
import { toRow } from '../../../src/stores/sql/telemetry/rows.ts'
import { isDrill } from '../../support/drill.ts'
import { sampleRequest } from '../../support/telemetry.ts'
import { engines } from './places.ts'
import { openTelemetry } from './shared-telemetry.ts'

/*
 * Sums by a property are those of the rows, whichever part of them comes from sums: on both engines, for any range.
 */
const QUARTER_MS = 900_000
const DAY_MS = 86_400_000
const BEGIN_MS = 1_795_305_600_000
const LENGTH_MS = 6 * QUARTER_MS

const tag = fc.constantFrom('a', 'a.b', 'a_b', 'axb')
const answer = fc.constantFrom(
  { provider: 'p', modelServed: 'm', outcome: 'complete', status: 200, reason: null } as const,
  { provider: 'p', modelServed: 'n/m', outcome: 'incomplete', status: 200, reason: null } as const,
  { provider: 'q', modelServed: 'm', outcome: 'error', status: 500, reason: 'q answered 500' } as const,
  { provider: null, modelServed: null, outcome: 'error', status: 429, reason: 'cap_day: all is spent' } as const,
  { provider: null, modelServed: null, outcome: 'refused', status: 401, reason: 'key_revoked: by its owner' } as const,
)
const parts = fc.record({
  startedAtMs: fc.integer({ min: BEGIN_MS, max: BEGIN_MS + LENGTH_MS - 1 }),
  keyId: fc.constantFrom('key_1', 'key_2'),
  userId: fc.constantFrom('ada', 'ben', null),
  teamId: fc.constantFrom('team_1', null),
  tags: fc.uniqueArray(tag, { maxLength: 3 }).map((tags) => tags.toSorted()),
  client: fc.constantFrom('codex', null),
  conversation: fc.constantFrom('c1', 'c2'),
  pipeline: fc.constantFrom('none', 'exact-cache', 'cost-guard?a=1,exact-cache', 'exact-cache?b=2'),
  cache: fc.constantFrom('hit', 'attached', 'miss', 'none'),
  costNanoUsd: fc.option(fc.integer({ min: 0, max: 2e12 })),
  counterfactualNanoUsd: fc.option(fc.integer({ min: 0, max: 2e12 })),
  counterfactualAtMostNanoUsd: fc.option(fc.integer({ min: 0, max: 2e12 })),
  counterfactualBasis: fc.constantFrom('same', 'estimate'),
  priceSource: fc.constantFrom('ceiling', 'catalogue'),
  providerMs: fc.option(fc.integer({ min: 0, max: 9999 })),
  answer,
})

const most = 1e12
const clamp = (amount: number | null) => (amount === null ? null : Math.min(amount, most))
const isError = ({ outcome, status }: FinishedRequest) => outcome === 'error' || (status ?? 0) >= 400

/** Names of the groups in which a request is. */
function namesOf(request: FinishedRequest, by: GroupBy): readonly string[] {
  const { keyId, userId, teamId, tags, conversation, provider, modelServed, pipeline, reason } = request
  const or = (name: string | null | undefined) => [name ?? WITHOUT]
  const many = (names: readonly string[]) => (names.length === 0 ? [WITHOUT] : names)
  switch (by) {
    case 'key':
      return or(keyId)
    case 'person':
      return or(userId)
    case 'team':
      return or(teamId)
    case 'tag':
      return many(tags)
    case 'conversation':
      return or(conversation?.rootId)
    case 'client':
      return or(conversation?.client)
    case 'model':
      return or(isError(request) || modelServed === null ? null : `${provider}/${modelServed}`)
    case 'provider':
      return or(provider)
    case 'module':
      return many(modulesOf(pipeline))
    case 'reason':
      return reason === null ? [] : [reason.split(':')[0] ?? '']
  }
}

function figuresOf(requests: readonly FinishedRequest[]) {
  const used = requests.filter(({ outcome }) => outcome !== 'refused')
  const sum = (of: (request: FinishedRequest) => number) => used.reduce((total, each) => total + of(each), 0)
  const count = (is: (request: FinishedRequest) => boolean) => used.filter(is).length
  const cost = (each: FinishedRequest) => clamp(each.costNanoUsd)
  const without = (each: FinishedRequest) => clamp(each.counterfactualNanoUsd)
  const saved = (each: FinishedRequest) => {
    const [own, other] = [cost(each), without(each)]
    return own === null || other === null ? 0 : other - own
  }
  const more = (each: FinishedRequest) => {
    const [own, other, atMost] = [cost(each), without(each), clamp(each.counterfactualAtMostNanoUsd)]
    return own === null || other === null || atMost === null ? 0 : Math.max(0, atMost - other)
  }
  return {
    requests: requests.length,
    errors: requests.filter((each) => isError(each) || each.outcome === 'refused').length,
    unfinished: count((each) => !isError(each) && each.outcome !== 'complete'),
    cacheHits: count(({ cache }) => cache === 'hit'),
    cacheAttached: count(({ cache }) => cache === 'attached'),
    cacheMisses: count(({ cache }) => cache === 'miss'),
    tokens: {
      input: sum(({ tokens }) => tokens?.input ?? 0),
      output: sum(({ tokens }) => tokens?.output ?? 0),
      cacheRead: sum(({ tokens }) => tokens?.cacheRead ?? 0),
      cacheWrite: sum(({ tokens }) => tokens?.cacheWrite ?? 0),
    },
    costNanoUsd: sum((each) => cost(each) ?? 0),
    ceilingNanoUsd: sum((each) => (each.priceSource === 'ceiling' ? (cost(each) ?? 0) : 0)),
    unpriced: count(({ costNanoUsd }) => costNanoUsd === null),
    savedNanoUsd: sum(saved),
    savedEstimateNanoUsd: sum((each) => (each.counterfactualBasis === 'estimate' ? saved(each) : 0)),
    savedMoreNanoUsd: sum(more),
    providerMs: sum(({ providerMs }) => providerMs ?? 0),
    asked: count(({ providerMs }) => providerMs !== null),
  }
}

let made = 0

for (const engine of engines) {
  engine.test(
    'groups: sums by any property are those of the rows, for any range and filter, and of a repeated batch once',
    async (t) => {
      const telemetry = await openTelemetry(t, engine)
      const moment = fc.integer({ min: -QUARTER_MS, max: LENGTH_MS + QUARTER_MS }).map((ms) => BEGIN_MS + ms)
      const bound = fc.oneof(
        moment,
        moment.map((ms) => Math.floor(ms / QUARTER_MS) * QUARTER_MS),
        fc.constant(undefined),
      )
      const rows = fc.array(parts, { minLength: 1, maxLength: 40, size: 'max' })
      await fc.assert(
        fc.asyncProperty(
          rows,
          bound,
          bound,
          fc.constantFrom(...GROUPS),
          fc.constantFrom(...DIMENSIONS),
          async (drawn, a, b, by, dimension) => {
            const own = ++made
            const scopes = ['key_1', 'key_2'].map((key) => scopeOfKey(`${key}-${own}`))
            const requests = drawn.map(({ answer, client, conversation, ...rest }) => {
              const rootId = `${conversation}-${own}`
              const keyId = `${rest.keyId}-${own}`
              return sampleRequest({
                ...rest,
                ...answer,
                keyId,
                scope: scopeOfKey(keyId),
                conversation: { id: rootId, rootId, parentId: null, agent: null, turn: 1, source: 'client', client },
              })
            })
            await telemetry.run('telemetry.put', requests.map(toRow))
            await telemetry.run('telemetry.put', requests.slice(0, 3).map(toRow))
            const [fromMs, toMs] = a !== undefined && b !== undefined && a > b ? [b, a] : [a, b]
            const first = requests[0]
            const value = namesOf(first ?? sampleRequest(), dimension as Dimension)[0]
            for (const filter of [{}, { [dimension]: value }, { [dimension]: value, text: 'e' }]) {
              const matching = requests.filter(
                (each) =>
                  each.startedAtMs >= (fromMs ?? 0) &&
                  each.startedAtMs < (toMs ?? Number.POSITIVE_INFINITY) &&
                  (!(dimension in filter) || namesOf(each, dimension).includes(value ?? '')),
              )
              const found = await telemetry.groups(scopes, { by, fromMs, toMs, limit: 500, ...filter })
              const names = new Set(matching.flatMap((each) => namesOf(each, by)))
              const expected = [...names].map((name) => {
                return { name, ...figuresOf(matching.filter((each) => namesOf(each, by).includes(name))) }
              })
              const order = (x: { name: string }, y: { name: string }) => (x.name < y.name ? -1 : 1)
              t.deepEqual(found.groups.toSorted(order), expected.toSorted(order))

              t.deepEqual(found.total, figuresOf(matching))
              t.false(found.hasMore)
              const { length } = await telemetry.list(scopes, { fromMs, toMs, limit: 500, ...filter })
              t.is(length, matching.length)
            }
          },
        ),
        { numRuns: isDrill ? 40 : 12 },
      )
    },
  )

  engine.test('groups: none are of another scope; the dearest come first, and more are announced', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const [mine, other] = [`mine-${++made}`, `other-${made}`]
    const at = { startedAtMs: BEGIN_MS }
    await telemetry.run(
      'telemetry.put',
      [
        sampleRequest({ ...at, scope: mine, teamId: 'cheap', costNanoUsd: 1 }),
        sampleRequest({ ...at, scope: mine, teamId: 'dear', costNanoUsd: 5 }),
        sampleRequest({ ...at, scope: other, teamId: 'dear', costNanoUsd: 7 }),
      ].map(toRow),
    )
    const query = { by: 'team', fromMs: BEGIN_MS, toMs: BEGIN_MS + QUARTER_MS, limit: 1 } as const
    const found = await telemetry.groups([mine], query)
    t.deepEqual([found.groups[0]?.name, found.groups[0]?.costNanoUsd, found.hasMore], ['dear', 5, true])
    t.is(found.total.costNanoUsd, 6)
    t.deepEqual((await telemetry.groups([], query)).groups, [])
    t.true((await telemetry.groups(EVERYBODY, query)).total.costNanoUsd >= 13)
  })

  engine.test('groups: the dearest conversations of all scopes are those of a list of them', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const cost = fc.option(fc.integer({ min: 0, max: 5 }))
    const drawn = fc.array(fc.record({ run: fc.integer({ min: -1, max: 9 }), part: fc.nat(2), cost }), {
      minLength: 1,
      maxLength: 60,
      size: 'max',
    })
    await fc.assert(
      fc.asyncProperty(
        drawn,
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom(1, 8 * DAY_MS),
        async (rows, limit, lengthMs) => {
          const own = ++made
          const startedAtMs = BEGIN_MS + own * 10 * DAY_MS
          const scope = `runs-${own}`
          const requests = rows.map(({ run, part, cost }) => {
            const rootId = `run-${run}-${own}`
            const id = part === 0 ? rootId : `${rootId}-${part}`
            const conversation = {
              id,
              rootId,
              parentId: null,
              agent: null,
              turn: 1,
              source: 'client',
              client: null,
            } as const
            return sampleRequest({ scope, startedAtMs, costNanoUsd: cost, conversation: run < 0 ? null : conversation })
          })
          await telemetry.run('telemetry.put', requests.map(toRow))
          const query = { by: 'conversation', fromMs: startedAtMs, toMs: startedAtMs + lengthMs, limit } as const
          t.deepEqual(await telemetry.groups(EVERYBODY, query), await telemetry.groups([scope], query))
        },
      ),
      { numRuns: isDrill ? 40 : 12 },
    )
  })
}
