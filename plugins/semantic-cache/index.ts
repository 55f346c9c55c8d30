import { definePlugin, type Exchange, type Log, type PluginContext } from 'turnpike/plugin'
import { isCutByLimit } from 'turnpike/plugin/cache'
import { replyFor } from './answers/answer.ts'
import { Answers } from './answers/answers.ts'
import { openPlace, type Place } from './answers/places.ts'
import { Candidates } from './candidates/candidates.ts'
import { GRAPH_PACKAGE, hasGraphs } from './candidates/graph.ts'
import { MOST_LOOKED_AT } from './candidates/scope-candidates.ts'
import { commands } from './commands.ts'
import { idleReasonOf } from './eligibility.ts'
import { embeddingOf } from './embedder.ts'
import { createEmbedder } from './embedders/create.ts'
import { createFeedbackRoute } from './feedback/route.ts'
import { ServedAnswers } from './feedback/served.ts'
import { type Finding, type FindParts, find, type Lookup } from './find.ts'
import { formOf } from './form.ts'
import { Judge } from './judge/judge.ts'
import { entryOf, keyOf } from './key.ts'
import { options, removedOptions } from './options.ts'
import { questionOf } from './question.ts'
import { scopeOf } from './scope.ts'
import { wholeReplyOf } from './whole-reply.ts'

const NEVER = new AbortController().signal

export default definePlugin({
  name: 'semantic-cache',
  summary: 'Answers a question that was asked before in other words, when nothing that matters differs.',
  options,
  removedOptions,
  perRequest: ['mode', 'threshold', 'shadow', 'ttl', 'scope'],
  needs: ['clock', 'log', 'stores', 'folder', 'engines', 'models'],
  onError: 'bypass',
  routes: [{ method: 'POST', path: '/v1/cache/feedback' }],
  commandGroup: 'cache',
  commands,
  async setup(operator, services) {
    const { clock, log, models } = services
    const { judge_model, judge_per_day, max_entries_memory, max_scope_entries } = operator
    const embedder = await createEmbedder(operator, services)
    const judge =
      judge_model === undefined
        ? undefined
        : new Judge({ model: judge_model, perDayUsd: judge_per_day, models, clock, log })
    const limits = { maxBytes: max_entries_memory, maxScopeEntries: max_scope_entries }
    const candidates = new Candidates({ dimensions: embedder.dimensions, ...limits })
    // Lazy, until a pipeline or a verdict needs it: a store may be a connection or a thread.
    let opened: State | undefined
    const open = (): State => {
      if (opened !== undefined) return opened
      const place = openPlace(operator, services)
      log.info({ engine: place.engine }, 'entries.opened')
      const answers = new Answers(place.store, log)
      const served = new ServedAnswers(place.store, log)
      opened = { place, served, log, answers, candidates, embedder, judge, nowMs: () => clock.nowMs() }
      return opened
    }
    let isMissingGraphLogged = false
    const logMissingGraph = (): void => {
      if (isMissingGraphLogged || hasGraphs()) return
      isMissingGraphLogged = true
      log.warn({ package: GRAPH_PACKAGE, mostCompared: MOST_LOOKED_AT }, 'graph.missing')
    }
    return {
      middleware: (effective) => {
        const state = open()
        const limits = { maxWords: effective.max_words, maxTemperature: effective.max_temperature }
        if (effective.mode !== 'strict') logMissingGraph()
        return async function semanticCache(ctx, next) {
          const { exchange } = ctx.state
          const question = questionOf(exchange)
          const idle = typeof question === 'string' ? question : idleReasonOf(exchange, question, limits)
          if (typeof question === 'string' || idle !== undefined) {
            exchange.idle(idle ?? 'no text')
            return next()
          }
          const { text } = question
          const scope = scopeOf(exchange, question, effective.scope)
          const { form, normalised, literalReason } = formOf(text, limits)
          const key = keyOf(scope, form)
          const lookup: Lookup = { exchange, scope, text, normalised, key, literalReason, effective }
          ctx.set('x-svc-cache', 'miss')
          const finding = await find(lookup, state)
          if (answer(lookup, { ctx, finding }, state)) return
          await next()
          void keep(lookup, finding, state)
        }
      },
      routes: {
        // The answer may be of another process, and this one may not have opened its store yet.
        'POST /v1/cache/feedback': createFeedbackRoute(() => {
          const { served, answers } = open()
          return {
            answers: served,
            onVerdict: ({ keys, scope, entry }, verdict) => {
              log.info({ entry, verdict }, 'feedback.given')
              if (verdict === 'right') return
              for (const key of keys) {
                candidates.remove(scope, key)
                void answers.delete(key)
              }
            },
          }
        }),
      },
      async close() {
        judge?.close()
        await embedder.close?.()
        await opened?.place.close()
      },
    }
  },
})

interface State extends FindParts {
  readonly place: Place
  readonly served: ServedAnswers
  readonly log: Log
}

interface Answering {
  readonly ctx: PluginContext
  readonly finding: Finding
}

/** Replies with the answer found, unless it is unwanted; records the action in trace and headers. */
function answer(lookup: Lookup, { ctx, finding }: Answering, state: State): boolean {
  const { exchange, effective } = lookup
  const { found, details } = finding
  if (found === undefined) {
    exchange.note('miss', details)
    return false
  }
  const { tier, key } = found
  const score = Number(found.score.toFixed(3))
  const entry = entryOf(key)
  if (effective.shadow) {
    exchange.note('shadowed', { tier, score, entry, ...details })
    state.log.info({ requestId: exchange.id, tier, score, entry }, 'answer.shadowed')
    return false
  }
  const reply = wantsFresh(exchange) ? undefined : replyFor(exchange, found.answer)
  if (reply === undefined) {
    exchange.note('miss', { reason: wantsFresh(exchange) ? 'no-cache' : 'reply-gone' })
    return false
  }
  const ageSeconds = Math.max(0, Math.floor((state.nowMs() - found.answer.storedAtMs) / 1000))
  exchange.note('hit', { tier, score, entry, ...details, ageSeconds, scope: effective.scope })
  ctx.set({
    'x-svc-cache': HEADERS[tier],
    'x-svc-cache-score': String(score),
    'x-svc-cache-entry': entry,
    age: String(ageSeconds),
  })
  exchange.reply = reply
  remember(lookup, found, state)
  return true
}

const HEADERS = {
  exact: 'hit',
  alias: 'alias',
  canonical: 'semantic',
  judged: 'semantic',
  threshold: 'semantic',
} as const

type Found = NonNullable<Finding['found']>

/**
 * Records the served answer for its owner's feedback; an answer approved by a judge serves the text by its form from
 * now on.
 */
function remember({ exchange, scope, key, effective }: Lookup, found: Found, { served, answers, nowMs }: State): void {
  const keys = [...new Set([key, found.key])]
  served.remember(exchange.id, { owner: exchange.caller.scope, scope, keys, entry: entryOf(found.key) })
  const leftMs = found.answer.storedAtMs + effective.ttl - nowMs()
  if (found.tier === 'judged' && leftMs > 0) void answers.set(key, found.answer, leftMs)
}

function wantsFresh({ headers }: Exchange): boolean {
  return String(headers['cache-control'] ?? '')
    .toLowerCase()
    .includes('no-cache')
}

/** Stores a complete reply; in modes that compare vectors, its text becomes a candidate then. */
async function keep(lookup: Lookup, { vector }: Finding, state: State): Promise<void> {
  const { exchange, scope, text, normalised, key, literalReason, effective } = lookup
  // The reply of another cache or plugin has an unknown age, and a fallback's reply is not this request's own.
  if (exchange.calls.length !== 1) return
  const reply = await wholeReplyOf(exchange.reply, effective.max_entry)
  if (reply === undefined || isCutByLimit(exchange.answerLimit, reply.usage)) return
  const storedAtMs = state.nowMs()
  if (!(await state.answers.set(key, { text: normalised, storedAtMs, reply }, effective.ttl))) return
  if (effective.mode === 'strict' || literalReason !== undefined) return
  const compared = vector ?? (await embeddingOf(state.embedder, text, NEVER)).vector
  const candidate = { key, text: normalised, expiresAtMs: storedAtMs + effective.ttl }
  if (compared !== undefined) state.candidates.add(scope, candidate, compared)
}
