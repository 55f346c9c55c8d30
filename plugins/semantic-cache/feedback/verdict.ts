import type { Log } from 'turnpike/plugin'
import { ANY_OTHER_TEXT } from '../aftermath.ts'
import type { BoundPools } from '../bound/pools.ts'
import type { Replies } from '../replies.ts'
import type { Reports } from '../reports.ts'
import type { Scopes } from '../scopes.ts'
import type { Served } from './served.ts'

/** What a verdict acts on. */
export interface VerdictParts {
  readonly scopes: Scopes
  readonly replies: Replies
  readonly pools: BoundPools
  readonly reports: Reports
  readonly log: Log
}

/**
 * Acts on what an owner says of an answer. Wrong: the entry goes, on all instances, and the pair is never proposed again.
 * Right: nothing is left to judge, and it is counted.
 *
 * A bound takes `wrong` as evidence and `right` only as a count to be shown: whoever speaks up is no sample, and praise
 * must not be able to open what audits would keep closed.
 */
export function applyVerdict(served: Served, verdict: 'right' | 'wrong', parts: VerdictParts): void {
  const { scopes, replies, pools, reports, log } = parts
  const { scope, text, entry, bound, tier } = served
  log.info({ entry, tier, verdict }, 'feedback.given')
  if (verdict === 'wrong') {
    scopes.block(scope, text, entry)
    scopes.block(scope, ANY_OTHER_TEXT, entry)
    scopes.removeReply(scope, entry)
    void replies.remove(entry)
  }
  if (bound === undefined) return
  const key = { id: bound.pool, delta: bound.delta }
  if (verdict === 'wrong') pools.add(key, { score: bound.score, isWrong: true })
  reports.bound(pools.stateOf(key), verdict)
}
