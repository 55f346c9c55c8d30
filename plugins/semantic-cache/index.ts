import { randomBytes } from 'node:crypto'
import path from 'node:path'
import {
  type Clock,
  definePlugin,
  type Exchange,
  isCutByLimit,
  type Log,
  type PluginContext,
  type Reply,
} from 'turnpike/plugin'
import { Aftermath, ANY_OTHER_TEXT } from './aftermath.ts'
import { BoundPools, poolIdOf } from './bound/pools.ts'
import { commands } from './commands.ts'
import { bypassReasonOf, literalReasonOf } from './eligibility.ts'
import { embeddingOf } from './embedder.ts'
import { createEmbedder } from './embedders/create.ts'
import { preparePlaces } from './entries/places.ts'
import { withCandidates } from './entries/postgres/candidates.ts'
import { createFeedbackRoute } from './feedback/route.ts'
import { ServedAnswers } from './feedback/served.ts'
import { applyVerdict } from './feedback/verdict.ts'
import { Graphs } from './graph/graphs.ts'
import { Judge } from './judge/judge.ts'
import { lookUp } from './lookup.ts'
import type { Mode } from './matcher.ts'
import { normaliseText } from './normalise.ts'
import { modeOf, type Options, options } from './options.ts'
import { type Later, type Plan, planFor } from './plan.ts'
import { questionOf } from './question.ts'
import { Replies, wholeReplyOf } from './replies.ts'
import { Reports } from './reports.ts'
import { scopeOf } from './scope.ts'
import { Scopes } from './scopes.ts'

const ID_BYTES = 9
const NEVER = new AbortController().signal

export default definePlugin({
  name: 'semantic-cache',
  summary: 'Answers a question that was asked before in other words, when nothing that matters differs.',
  options,
  perRequest: ['mode', 'threshold', 'delta', 'shadow', 'ttl', 'scope'],
  needs: ['clock', 'log', 'stores', 'folder', 'engines', 'models'],
  onError: 'bypass',
  routes: [{ method: 'POST', path: '/v1/cache/feedback' }],
  commandGroup: 'cache',
  commands,
  async setup(operator, services) {
    const { clock, log, folder, models } = services
    const { audit, judge_model, judge_per_day } = operator
    const embedder = await createEmbedder(operator, services)
    const openPlaces = await preparePlaces(operator, services)
    const pools = new BoundPools({ folder, auditShare: audit, random: Math.random, log })
    const reports = new Reports(folder, log)
    const judge =
      judge_model === undefined
        ? undefined
        : new Judge({ model: judge_model, perDayUsd: judge_per_day, models, clock, log })
    // Opened when a pipeline first names the module, or somebody tells of an answer: with Redis a store is a connection, and most gateways need none here.
    let state: State | undefined
    let opening: Promise<State> | undefined
    const open = async (): Promise<State> => {
      const { book, replies: stored, served, candidates } = await openPlaces()
      log.info({ engine: book?.engine ?? 'memory' }, 'entries.opened')
      const graphFolder = operator.persist ? path.join(folder, 'graphs') : undefined
      const graphs = new Graphs({ folder: graphFolder }, log)
      const scopes = new Scopes(embedder.dimensions, operator.max_entries, {
        maxScopeEntries: operator.max_scope_entries,
        maxBytes: operator.max_entries_memory,
        keeping: book && { book, clock, log },
        graphs: candidates === undefined ? graphs : withCandidates(graphs, candidates),
      })
      const replies = new Replies(stored, log)
      const answers = new ServedAnswers(served, log)
      const aftermath = new Aftermath({ scopes, replies, pools, reports, judge, clock, log })
      state = { scopes, replies, answers, pools, reports, judge, aftermath, clock, log }
      return state
    }
    return {
      middleware: (effective) => {
        opening ??= open()
        const ready = opening
        const mode = modeOf(effective)
        const limits = { maxWords: effective.max_words, maxTemperature: effective.max_temperature }
        return async function semanticCache(ctx, next) {
          const { exchange } = ctx.state
          const opened = state ?? (await ready)
          const question = questionOf(exchange)
          const bypass = question === undefined ? 'no-text' : bypassReasonOf(exchange, question, limits)
          if (question === undefined || bypass !== undefined) {
            exchange.note('bypassed', { reason: bypass })
            return next()
          }
          const { text } = question
          const scope = scopeOf(exchange, question, { scope: effective.scope, embedder })
          const normalised = normaliseText(text)
          const literalReason = literalReasonOf(text, limits)
          const { index, reason } = await opened.scopes.open(scope)
          const looked = await lookUp(index, embedder, {
            text,
            normalised,
            literalReason,
            mode,
            nowMs: clock.nowMs(),
            signal: exchange.signal,
            isBlocked: ({ id, text: own }) =>
              opened.scopes.isBlocked(scope, normalised, id) ||
              (own !== normalised && opened.scopes.isBlocked(scope, ANY_OTHER_TEXT, id)),
          })
          const lookup = reason === undefined ? looked : { ...looked, reason }
          const pool = poolIdOf(exchange, effective.scope, embedder.id)
          const judging = judge === undefined ? 'off' : judge.trouble
          const plan = planFor(lookup, { mode, isShadow: effective.shadow, pool, pools, judging })
          const asked: Asked = { exchange, scope, text, normalised, pool, mode, effective }
          if (await answer(asked, { ctx, plan }, opened)) return
          await next()
          // Found without its vector and not given, or the embedder failed: there is time now. Else the text is kept alone.
          const again = () => embeddingOf(embedder, text, NEVER).then(({ vector }) => vector)
          const vector = lookup.vector ?? (literalReason === undefined ? again() : undefined)
          void keep(asked, { vector, later: wantsFresh(exchange) ? undefined : plan.later }, opened)
        }
      },
      routes: {
        // The answer may be another process's, and this one asked for the first time.
        'POST /v1/cache/feedback': createFeedbackRoute(async () => {
          opening ??= open()
          const opened = await opening
          return { answers: opened.answers, onVerdict: (served, verdict) => applyVerdict(served, verdict, opened) }
        }),
      },
      async close() {
        judge?.close()
        await embedder.close?.()
        await opening?.catch(() => {})
        await Promise.all([state?.scopes.close(), pools.close(), reports.close()])
      },
    }
  },
})

interface State {
  readonly scopes: Scopes
  readonly replies: Replies
  readonly answers: ServedAnswers
  readonly pools: BoundPools
  readonly reports: Reports
  readonly judge: Judge | undefined
  readonly aftermath: Aftermath
  readonly clock: Clock
  readonly log: Log
}

/** A request that was looked up. */
interface Asked {
  readonly exchange: Exchange
  readonly scope: string
  readonly text: string
  readonly normalised: string
  readonly pool: string
  readonly mode: Mode
  readonly effective: Options
}

interface Answering {
  readonly ctx: PluginContext
  readonly plan: Plan
}

/** Answers with what was found, unless it is not wanted or its reply is gone; says in trace and headers what was done. */
async function answer(asked: Asked, { ctx, plan }: Answering, state: State): Promise<boolean> {
  const { exchange, scope, effective } = asked
  const { found, told } = plan
  ctx.set('x-svc-cache', 'miss')
  if (effective.shadow) state.reports.shadowed(shadowKeyOf(asked), found?.tier === 'semantic')
  if (found === undefined) {
    exchange.note('miss', told)
    return false
  }
  const { entry, tier } = found
  const score = Number(found.score.toFixed(3))
  const details = { tier, score, entry: entry.id, ...told }
  if (effective.shadow) {
    exchange.note('shadowed', details)
    state.log.info({ requestId: exchange.id, ...details }, 'answer.shadowed')
    return false
  }
  if (wantsFresh(exchange)) {
    exchange.note('miss', { reason: 'no-cache' })
    return false
  }
  const reply = await state.replies.get(entry.id, exchange)
  if (typeof reply === 'string') {
    exchange.note('miss', { reason: reply })
    return false
  }
  state.scopes.get(scope)?.touch(entry)
  const ageSeconds = Math.max(0, Math.floor((state.clock.nowMs() - entry.storedAtMs) / 1000))
  exchange.note('hit', { ...details, ageSeconds, scope: asked.effective.scope })
  ctx.set({
    'x-svc-cache': tier === 'exact' ? 'hit' : tier,
    'x-svc-cache-score': String(score),
    'x-svc-cache-entry': entry.id,
    age: String(ageSeconds),
  })
  exchange.reply = reply
  remember(asked, plan, state)
  return true
}

/** So that its owner can say whether it was right. */
function remember({ exchange, scope, normalised }: Asked, { found, bound }: Plan, state: State): void {
  if (found === undefined) return
  const by = bound && { pool: bound.key.id, delta: bound.key.delta, score: bound.score }
  const served = { owner: exchange.caller.scope, scope, text: normalised, entry: found.entry.id, tier: found.tier }
  state.answers.remember(exchange.id, by === undefined ? served : { ...served, bound: by })
  if (bound !== undefined) state.reports.bound(state.pools.stateOf(bound.key), 'served')
}

function shadowKeyOf({ pool, mode }: Asked): { pool: string; mode: string } {
  return { pool, mode: nameOfMode(mode) }
}

function nameOfMode(mode: Mode): string {
  if (mode.kind === 'bound') return `bound(${mode.delta})`
  return mode.kind === 'threshold' ? `threshold(${mode.leastCosine})` : mode.kind
}

function wantsFresh({ headers }: Exchange): boolean {
  return String(headers['cache-control'] ?? '')
    .toLowerCase()
    .includes('no-cache')
}

interface Keeping {
  readonly vector: Int8Array | undefined | Promise<Int8Array | undefined>
  readonly later: Later | undefined
}

/**
 * Stores the reply when it is whole, and then the text that leads to it: a text never leads to nothing. Then what is to
 * be found out about it is found out, in the background.
 */
async function keep(asked: Asked, { vector, later }: Keeping, state: State): Promise<void> {
  const { exchange, scope, normalised, effective } = asked
  // What another cache or module answered has an age that nobody knows, and a substitute's answer is not this request's own.
  if (exchange.calls.length !== 1) return
  const reply: Reply | undefined = exchange.reply
  const stored = await wholeReplyOf(reply, effective.max_entry)
  if (stored === undefined || isCutByLimit(exchange.answerLimit, stored.usage)) return
  const id = randomBytes(ID_BYTES).toString('base64url')
  if (!(await state.replies.set(id, stored, effective.ttl))) return
  const storedAtMs = state.clock.nowMs()
  const compared = await vector
  state.scopes.add(scope, { id, text: normalised, storedAtMs, expiresAtMs: storedAtMs + effective.ttl }, compared)
  if (later === undefined) return
  const answered = { ...asked, requestId: exchange.id, vector: compared, fresh: stored, mode: nameOfMode(asked.mode) }
  await state.aftermath.learn(answered, later)
}
