import type { Clock, Log, StoredReply } from 'turnpike/plugin'
import type { BoundPools, PoolKey } from './bound/pools.ts'
import { answerTextOf } from './judge/answer-text.ts'
import type { Judge, Verdict } from './judge/judge.ts'
import type { NearMiss } from './matcher.ts'
import type { Later } from './plan.ts'
import type { Replies } from './replies.ts'
import type { Reports } from './reports.ts'
import type { Scopes } from './scopes.ts'

/** Stands for every text but an entry's own: a text of no letters is never looked up by meaning. */
export const ANY_OTHER_TEXT = ''

/** A request that has been answered by the provider. */
export interface Answered {
  readonly requestId: string
  readonly scope: string
  /** As it was asked, and as it is looked up by. */
  readonly text: string
  readonly normalised: string
  readonly vector: Int8Array | undefined
  readonly fresh: StoredReply
  readonly pool: string
  readonly mode: string
}

/** Finds out, when the client has long had its answer, whether one from the cache would have been right. */
export class Aftermath {
  readonly #parts: AftermathParts

  constructor(parts: AftermathParts) {
    this.#parts = parts
  }

  /** Compares, and learns from it. Never rejects. */
  async learn(answered: Answered, later: Later): Promise<void> {
    const { log } = this.#parts
    try {
      const verdict = await this.#compare(answered, later.near)
      const { requestId } = answered
      log.debug({ requestId, entry: later.near.entry.id, kind: later.kind, verdict }, 'answer.compared')
      if (later.kind === 'shadow') this.#tellShadow(answered, later.near, verdict)
      else this.#act(answered, later.near, verdict)
      if (later.kind === 'evidence' && later.isAudit && verdict === 'wrong')
        this.#parts.scopes.block(answered.scope, ANY_OTHER_TEXT, later.near.entry.id)
      if (later.kind === 'evidence') this.#count(later.near, later.key, verdict)
      if (later.kind === 'shadow' && later.evidenceFor !== undefined)
        this.#count(later.near, later.evidenceFor, verdict)
    } catch (error) {
      log.warn({ err: error }, 'answer.not-compared')
    }
  }

  /** The same text is right without a judge. Without one, another text is `unclear`. */
  async #compare({ text, fresh }: Answered, { entry }: NearMiss): Promise<Verdict> {
    const { replies, judge } = this.#parts
    const cached = await replies.stored(entry.id)
    if (cached === undefined) return 'unasked'
    const [oldAnswer, freshAnswer] = [answerTextOf(cached)?.trim(), answerTextOf(fresh)?.trim()]
    if (oldAnswer === undefined || freshAnswer === undefined) return 'unclear'
    if (oldAnswer === freshAnswer) return 'right'
    if (judge === undefined) return 'unclear'
    return judge.judge({ newQuestion: text, freshAnswer, oldQuestion: entry.text, oldAnswer })
  }

  /** What was found right becomes another way to ask; what was found wrong is never proposed again. */
  #act({ scope, normalised, vector }: Answered, { entry }: NearMiss, verdict: Verdict): void {
    const { scopes, clock } = this.#parts
    // It may have gone, or been found wrong, while the judge was thinking.
    const isThere = scopes.get(scope)?.leadingTo(entry.id).length
    // Later than the text's own entry, also where that is of the same millisecond.
    if (verdict === 'right' && isThere && !scopes.isBlocked(scope, normalised, entry.id))
      scopes.add(scope, { ...entry, text: normalised, learnedAtMs: clock.nowMs() + 1 }, vector)
    if (verdict === 'wrong') scopes.block(scope, normalised, entry.id)
  }

  /**
   * Evidence. Only chance may keep a pair out (a full queue, a judge that cannot be reached): what nobody could decide
   * counts as wrong, or answers that are hard to judge would look better than they are.
   */
  #count({ score }: NearMiss, key: PoolKey, verdict: Verdict): void {
    const { pools, reports } = this.#parts
    if (verdict !== 'unasked') pools.add(key, { score, isWrong: verdict !== 'right' })
    reports.bound(pools.stateOf(key), toldOf(verdict))
  }

  #tellShadow({ requestId, pool, mode }: Answered, { entry }: NearMiss, verdict: Verdict): void {
    const told = toldOf(verdict)
    const { right, wrong, undecided } = this.#parts.reports.compared({ pool, mode }, told)
    this.#parts.log.info({ requestId, entry: entry.id, verdict: told, right, wrong, undecided }, 'shadow.compared')
  }
}

/** What comparing needs. */
export interface AftermathParts {
  readonly scopes: Scopes
  readonly replies: Replies
  readonly pools: BoundPools
  readonly reports: Reports
  readonly judge: Judge | undefined
  readonly clock: Clock
  readonly log: Log
}

function toldOf(verdict: Verdict): 'right' | 'wrong' | 'undecided' {
  return verdict === 'right' || verdict === 'wrong' ? verdict : 'undecided'
}
