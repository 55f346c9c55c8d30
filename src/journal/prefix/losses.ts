import { ScanError } from '../../core/json/scan-error.ts'
import { leastCachedTokens } from '../../core/money/least-cached.ts'
import type { Prices } from '../../core/money/prices.ts'
import type { Usage } from '../../core/reply/usage.ts'
import type { Exchange } from '../../core/request/exchange.ts'
import type { SentRequest } from '../../core/request/sent-request.ts'
import { betasOf } from '../../core/request/version-headers.ts'
import type { PrefixLoss } from '../../core/telemetry/prefix-loss.ts'
import type { CallTrace } from '../../core/telemetry/traces.ts'
import type { ReplyFacts } from '../receipts/build.ts'
import { apiOf } from './api-of.ts'
import { cachedAfter } from './cache-rules.ts'
import type { PrefixDigest } from './digest.ts'
import { type Cause, causeOf } from './loss.ts'
import { TurnMemory } from './memory.ts'
import { predecessorOf } from './predecessor.ts'
import { priceOfLoss } from './price.ts'
import { type Api, readPrefix } from './read-prefix.ts'
import { textAt } from './read-system.ts'
import { type InputTokens, type SentTurn, totalOf } from './turn.ts'

/**
 * DESIGN: why a provider did not read a prefix that it had cached.
 *
 * When a reply with usage has ended, the body that was sent is digested (`digest.ts`), and compared with the turn that it
 * continues (`predecessor.ts`). If the provider read less than it had cached after that turn by its own usage, the first
 * difference is the reason (`loss.ts`), and the price list gives its cost (`price.ts`).
 *
 *     sent body ─► digest ─► predecessor ─► cause ─► price ─► row, live page, metric
 *                               ▲   │
 *                               └───┴─ the latest turns of a conversation (`memory.ts`)
 *
 * Guarantees: no text of a prompt is kept, and none is in a reason: field names, tool names, models, betas and counts only.
 * A reply that read all that was cached is never a loss, whatever changed. Linear in the body; bounded memory. A prompt
 * that is shorter than anything that its provider caches is not digested, unless an earlier turn is cached.
 * Limits: the turns of this process alone are known. Behind a balancer that spreads a conversation over processes, a turn
 * is compared with the latest one that was here, and with none the reason is `unknown`.
 */
export type FinishedTurn = Pick<ReplyFacts, 'exchange' | 'admittedAtMs' | 'repliedAtMs'>

/** Fewest messages of a conversation that goes on: the user, the model, the user. */
const FEWEST_OF_TURN_TWO = 3

/** Finds the losses of the prompt cache among the requests of a process. */
export class PrefixLosses {
  readonly #pricer: Pick<Prices, 'price'>
  readonly #memory = new TurnMemory()
  /** Providers that have reported a prompt cache; those of the configuration, so they are few. */
  readonly #caching = new Set<string>()

  constructor(pricer: Pick<Prices, 'price'>) {
    this.#pricer = pricer
  }

  /** Returns the loss of a finished request; `null` when there is none, or nothing was sent to a provider with a cache. */
  lossOf(finished: FinishedTurn): PrefixLoss | null {
    const { exchange, admittedAtMs } = finished
    const usage = exchange.latestUsage
    const { id } = exchange.conversation
    const kept = this.#memory.turnsOf(id)
    const known = kept ?? []
    const turn = usage && this.#turnOf(finished, usage, known)
    if (usage === undefined || turn === undefined) return null
    if (turn === TOO_SHORT) {
      this.#memory.note(id)
      return null
    }
    const before = predecessorOf(known, turn)
    this.#memory.add(id, turn, before)
    const cause = before ? causeOf(before, turn, systemTextOf(finished, turn)) : unknownBefore(kept, turn)
    if (cause === undefined) return null
    const { tokens } = cause
    const nanoUsd = priceOfLoss(this.#pricer, { target: turn.target, usage, tokens, atMs: admittedAtMs })
    return { ...cause, nanoUsd }
  }

  #turnOf({ exchange, admittedAtMs, repliedAtMs }: FinishedTurn, usage: Usage, known: readonly SentTurn[]) {
    const call = answeredCall(exchange)
    const api = call && apiOf(call.sent.path)
    if (call === undefined || api === undefined || usage.isCounted) return undefined
    const { provider, model, sent } = call
    const tokens = {
      fresh: usage.inputTokens,
      read: usage.cacheReadInputTokens,
      written: usage.cacheCreationInputTokens,
    }
    if (tokens.read + tokens.written > 0) this.#caching.add(provider)
    if (api !== 'messages' && !this.#caching.has(provider)) return undefined
    if (known.every(hasCachedNothing) && isTooShort(tokens, call, exchange)) return TOO_SHORT
    const digests = known.flatMap((turn) => [turn.sent, ...(turn.unedited ? [turn.unedited] : [])])
    const digest = prefixOf(sent.bytes, api, digests)
    if (digest === undefined) return undefined
    return {
      target: { provider, model },
      api,
      account: sent.account,
      betas: api === 'messages' ? betasOf(exchange.headers).toSorted() : [],
      sent: digest,
      unedited: exchange.edits.length === 0 ? digest : uneditedPrefix(exchange, api, digests),
      edits: exchange.edits.flatMap(({ module, paths }) => fieldsOf(paths).map((field) => ({ module, field }))),
      tokens,
      sentAtMs: admittedAtMs,
      beganAtMs: Math.floor(repliedAtMs),
    } satisfies SentTurn
  }
}

/** A turn of which nothing can be cached: its prefix is not read. */
const TOO_SHORT = 'too short'
const MARK = '"cache_control"'

/** Returns whether a prompt is shorter than anything that its provider caches, and has no mark that would be in vain. */
function isTooShort(
  tokens: InputTokens,
  { model, sent }: { model: string; sent: SentRequest },
  { client: { document } }: Exchange,
): boolean {
  const isUncached = tokens.read + tokens.written === 0
  if (!isUncached || totalOf(tokens) >= leastCachedTokens(model)) return false
  // The scan of the client's bytes has found its marks: a large image has few tokens.
  return sent.bytes === document.bytes ? document.shape.cacheMarks === 'none' : !sent.bytes.includes(MARK)
}

function hasCachedNothing(turn: SentTurn): boolean {
  return cachedAfter(turn) === 0
}

/** Returns the call whose reply is the request's, with what was sent; `undefined` when no provider was called. */
function answeredCall({ calls }: Exchange): (CallTrace & { readonly sent: SentRequest }) | undefined {
  const call = calls.findLast(({ outcome }) => outcome === 'answered')
  return call?.sent && { ...call, sent: call.sent }
}

/** Reads a prefix; `undefined` for a body that is no JSON, which some providers take. */
function prefixOf(bytes: Buffer, api: Api, known: readonly PrefixDigest[]): PrefixDigest | undefined {
  try {
    return readPrefix(bytes, api, known)
  } catch (error) {
    if (error instanceof ScanError) return undefined
    throw error
  }
}

/** Reads the prefix that the client would have sent; `undefined` where its request has another shape than the provider's. */
function uneditedPrefix({ client }: Exchange, api: Api, known: readonly PrefixDigest[]): PrefixDigest | undefined {
  if (api === 'messages') return prefixOf(client.canonical.bytes, api, known)
  return client.dialect.name === api ? prefixOf(client.document.bytes, api, known) : undefined
}

/** Returns the fields of paths, each once: a plugin may edit each of a thousand messages. */
function fieldsOf(paths: readonly string[]): string[] {
  return [...new Set(paths.map((path) => path.split('.', 1)[0] ?? ''))]
}

function systemTextOf({ exchange }: FinishedTurn, { sent }: SentTurn): (index: number) => string {
  return (index) => {
    const place = sent.system.blocks[index]?.place
    const bytes = answeredCall(exchange)?.sent.bytes
    return bytes === undefined || place === undefined ? '' : textAt(bytes, place)
  }
}

/** Returns that the turn before was not seen here, when a conversation that goes on read nothing of what it should have. */
function unknownBefore(known: readonly SentTurn[] | undefined, turn: SentTurn): Cause | undefined {
  const { tokens, sent, target } = turn
  if (known !== undefined || tokens.read > 0 || sent.messages.kinds.length < FEWEST_OF_TURN_TWO) return undefined
  const isCached = tokens.written > 0 || (turn.api !== 'messages' && totalOf(tokens) >= leastCachedTokens(target.model))
  return isCached ? { reason: 'unknown', detail: UNKNOWN, tokens: 0 } : undefined
}

const UNKNOWN = 'the turn before was at another process, or too long ago: nothing to compare with'
