import { leastCachedTokens } from '../../core/money/least-cached.ts'
import type { LossReason, PrefixLoss } from '../../core/telemetry/prefix-loss.ts'
import { cachedAfter, needsMarks } from './cache-rules.ts'
import { type Change, firstChange, type SystemTextOf } from './change.ts'
import { changeOfBetas, changeOfMarks, changeOfSettings, expiry } from './other-causes.ts'
import { pluginOf, pluginOfMarks } from './plugin-cause.ts'
import { type SentTurn, totalOf } from './turn.ts'

/** Cause of a loss, before it is priced. */
export type Cause = Omit<PrefixLoss, 'nanoUsd'>

/** Fewer tokens are no loss: the steps of OpenAI's cache, and differences of count. */
const TOLERANCE = 128
/** Share by which an estimate from weights may be wrong. */
const ESTIMATE_ERROR = 0.2
/** Reasons that are worth naming without a loss. */
const NAMED_WITHOUT_TOKENS: ReadonlySet<LossReason> = new Set(['compaction', 'too_short'])

/**
 * Compares two consecutive turns, and returns why the later one did not read what was cached after the earlier one;
 * `undefined` when it did. The expected tokens are those that the provider reported as cached, or less where the client
 * removed a part of the prompt, which is estimated by weight.
 */
export function causeOf(before: SentTurn, turn: SentTurn, textOf: SystemTextOf): Cause | undefined {
  const cached = cachedAfter(before)
  const change = firstChange(before.sent, turn.sent, textOf)
  if (cached === 0) return needsMarks(turn) ? neverCached(before, turn, change) : undefined
  if (cached - turn.tokens.read <= TOLERANCE) return undefined
  const named = nameCause(before, turn, change)
  const tokens = missingTokens(turn, { cached, change })
  return tokens > 0 || NAMED_WITHOUT_TOKENS.has(named.reason) ? { ...named, tokens } : undefined
}

function missingTokens({ tokens, sent }: SentTurn, { cached, change }: { cached: number; change: Change | undefined }) {
  const total = totalOf(tokens)
  const share = change === undefined ? 1 : change.repeatedWeight / Math.max(1, sent.weight)
  const expected = Math.min(cached, Math.floor(total * share))
  const missing = expected - tokens.read
  const tolerance = change === undefined ? TOLERANCE : Math.max(TOLERANCE, expected * ESTIMATE_ERROR)
  return missing <= tolerance ? 0 : Math.min(missing, total - tokens.read)
}

type Named = Omit<Cause, 'tokens'>

function nameCause(before: SentTurn, turn: SentTurn, change: Change | undefined): Named {
  const switched = modelSwitch(before, turn)
  if (switched !== undefined) return switched
  if (change !== undefined && explains(change, turn)) return nameChange(before, turn, change)
  if (before.account !== turn.account)
    return { reason: 'key', detail: `another key of ${turn.target.provider} was used: each account has its own cache` }
  const other = expiry(before, turn) ?? changeOfBetas(before, turn) ?? changeOfSettings(before, turn)
  if (other !== undefined) return other
  // Marks have other places in a prompt that changed before them.
  const own = change === undefined ? nameMarks(before, turn) : nameChange(before, turn, change)
  if (own !== undefined) return own
  return { reason: 'unread', detail: `${turn.target.provider} did not read it: no change was found` }
}

function modelSwitch({ target: was }: SentTurn, { target: is }: SentTurn): Named | undefined {
  if (was.provider !== is.provider)
    return {
      reason: 'model',
      detail: `${nameOf(is.provider, is.model)} in place of ${nameOf(was.provider, was.model)}`,
    }
  return was.model === is.model
    ? undefined
    : { reason: 'model', detail: `${nameOf(is.model)} in place of ${nameOf(was.model)}` }
}

const LONGEST_NAME = 100

function nameOf(...parts: readonly string[]): string {
  return parts.join('/').slice(0, LONGEST_NAME).toWellFormed()
}

/** Returns whether a change alone explains the loss: most of the prompt before it was read, or there is nearly none. */
function explains({ commonWeight }: Change, { tokens, sent, target }: SentTurn): boolean {
  const common = (totalOf(tokens) * commonWeight) / Math.max(1, sent.weight)
  return common < leastCachedTokens(target.model) || tokens.read >= common / 2
}

function nameChange(before: SentTurn, turn: SentTurn, change: Change): Named {
  const plugin = pluginOf(before, turn, change)
  if (plugin !== undefined) return { reason: 'plugin', detail: `${plugin}: ${change.detail}` }
  return { reason: change.isCompaction ? 'compaction' : change.part, detail: change.detail }
}

function nameMarks(before: SentTurn, turn: SentTurn): Named | undefined {
  const named = changeOfMarks(before, turn)
  const plugin = named && pluginOfMarks(before, turn)
  return named && plugin !== undefined ? { reason: 'plugin', detail: `${plugin}: ${named.detail}` } : named
}

/** Returns why nothing is cached in a conversation that repeats its prefix, where only marks make the provider cache. */
function neverCached(before: SentTurn, turn: SentTurn, change: Change | undefined): Cause | undefined {
  const { tokens, sent, target } = turn
  if (tokens.read + tokens.written > 0 || target.model !== before.target.model) return undefined
  const { marks, weight, tools, system } = sent
  const total = totalOf(tokens)
  const least = leastCachedTokens(target.model)
  const own = before.sent.messages.kinds.length
  const repeated = change?.commonWeight ?? tools.weight + system.weight + sum(sent.messages.weights.subarray(0, own))
  const repeatedTokens = Math.floor((total * repeated) / Math.max(1, weight))
  if (marks.length === 0)
    return repeatedTokens < least ? undefined : { reason: 'unmarked', detail: UNMARKED, tokens: repeatedTokens }
  if (total >= least || change !== undefined) return undefined
  const detail = `the prompt of ${total} tokens is marked, and ${target.model.slice(0, LONGEST_NAME)} caches from ${least} tokens on`
  return { reason: 'too_short', detail: detail.toWellFormed(), tokens: 0 }
}

const UNMARKED = 'no block has `cache_control`, so the repeated prefix is paid in full each time'

function sum(weights: Uint32Array): number {
  return weights.reduce((total, weight) => total + weight, 0)
}
