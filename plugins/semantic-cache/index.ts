import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { type Clock, definePlugin, type Exchange, type Log, type PluginContext, type Reply } from 'turnpike/plugin'
import { commands } from './commands.ts'
import { bypassReasonOf, literalReasonOf } from './eligibility.ts'
import { preparePlaces } from './entries/places.ts'
import { Graphs } from './graph/graphs.ts'
import { lexicalEmbedder } from './lexical-embedder.ts'
import { type Lookup, lookUp } from './lookup.ts'
import { normaliseText } from './normalise.ts'
import { modeOf, type Options, options } from './options.ts'
import { questionOf } from './question.ts'
import { Replies, wholeReplyOf } from './replies.ts'
import { scopeOf } from './scope.ts'
import { Scopes } from './scopes.ts'

const ID_BYTES = 9

export default definePlugin({
  name: 'semantic-cache',
  summary: 'Answers a question that was asked before in other words, when nothing that matters differs.',
  options,
  perRequest: ['mode', 'threshold', 'shadow', 'ttl', 'scope'],
  needs: ['clock', 'log', 'stores', 'folder', 'engines'],
  onError: 'bypass',
  commandGroup: 'cache',
  commands,
  async setup(operator, services) {
    const { clock, log } = services
    const embedder = lexicalEmbedder
    const openPlaces = await preparePlaces(operator, services)
    // Opened when a pipeline first names the module: with Redis a store is a connection, and most gateways need none here.
    let state: State | undefined
    const open = (): State => {
      const { book, replies } = openPlaces()
      const graphFolder = operator.persist ? path.join(services.folder, 'graphs') : undefined
      const keeping = book && { book, clock, log }
      const scopes = new Scopes(embedder.dimensions, operator.max_entries, {
        maxScopeEntries: operator.max_scope_entries,
        keeping,
        graphs: new Graphs({ folder: graphFolder, dimensions: embedder.dimensions }, log),
      })
      return { scopes, replies: new Replies(replies, log), clock, log }
    }
    return {
      middleware: (effective) => {
        state ??= open()
        const opened = state
        const mode = modeOf(effective)
        const limits = { maxWords: effective.max_words, maxTemperature: effective.max_temperature }
        return async function semanticCache(ctx, next) {
          const { exchange } = ctx.state
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
          const found = await lookUp(index, embedder, {
            text,
            normalised,
            literalReason,
            mode,
            nowMs: clock.nowMs(),
            signal: exchange.signal,
          })
          const lookup = reason === undefined ? found : { ...found, reason }
          if (await answer({ ctx, scope, lookup, effective }, opened)) return
          // The same text may have been found without its vector, and its reply be gone or not wanted.
          const vector = lookup.vector ?? (literalReason === undefined ? embedder.embed(text) : undefined)
          await next()
          void keep({ exchange, scope, normalised, vector, effective }, opened)
        }
      },
      close: () => state?.scopes.close(),
    }
  },
})

interface State {
  readonly scopes: Scopes
  readonly replies: Replies
  readonly clock: Clock
  readonly log: Log
}

interface Answering {
  readonly ctx: PluginContext
  readonly scope: string
  readonly lookup: Lookup
  readonly effective: Options
}

/** Answers with what was found, unless it is not wanted or its reply is gone; says in trace and headers what was done. */
async function answer({ ctx, scope, lookup, effective }: Answering, state: State): Promise<boolean> {
  const { exchange } = ctx.state
  const { found, reason } = lookup
  ctx.set('x-svc-cache', 'miss')
  if (found === undefined) {
    exchange.note('miss', { reason })
    return false
  }
  const { entry, tier } = found
  const score = Number(found.score.toFixed(3))
  const details = { tier, score, entry: entry.id }
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
  exchange.note('hit', { ...details, ageSeconds })
  ctx.set({
    'x-svc-cache': tier === 'exact' ? 'hit' : tier,
    'x-svc-cache-score': String(score),
    'x-svc-cache-entry': entry.id,
    age: String(ageSeconds),
  })
  exchange.reply = reply
  return true
}

function wantsFresh({ headers }: Exchange): boolean {
  return String(headers['cache-control'] ?? '')
    .toLowerCase()
    .includes('no-cache')
}

interface Keeping {
  readonly exchange: Exchange
  readonly scope: string
  readonly normalised: string
  readonly vector: Int8Array | undefined
  readonly effective: Options
}

/** Stores the reply when it is whole, and then the text that leads to it: a text never leads to nothing. */
async function keep({ exchange, scope, normalised, vector, effective }: Keeping, state: State): Promise<void> {
  // What another cache or module answered has an age that nobody knows, and a substitute's answer is not this request's own.
  if (exchange.calls.length !== 1) return
  const reply: Reply | undefined = exchange.reply
  const stored = await wholeReplyOf(reply, effective.max_entry)
  if (stored === undefined) return
  const id = randomBytes(ID_BYTES).toString('base64url')
  if (!(await state.replies.set(id, stored, effective.ttl))) return
  const storedAtMs = state.clock.nowMs()
  state.scopes.add(scope, { id, text: normalised, storedAtMs, expiresAtMs: storedAtMs + effective.ttl }, vector)
}
