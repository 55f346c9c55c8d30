import { sharedMessages } from './message-change.ts'
import type { SentTurn } from './turn.ts'

/** Difference of the clocks by which the two moments are measured. */
const CLOCKS_MS = 5

/**
 * Returns the turn that a request continues, among the latest turns of its conversation. A client has more than one thread
 * in a conversation: it names the session with another model, or asks twice in parallel. A turn counts when its reply had
 * begun before the request was sent, and shares messages with it, or the tools and the system text. `undefined`: the request
 * begins a thread of its own.
 */
export function predecessorOf(candidates: readonly SentTurn[], turn: SentTurn): SentTurn | undefined {
  let best: { readonly candidate: SentTurn; readonly score: number } | undefined
  for (const candidate of candidates) {
    if (candidate.beganAtMs > turn.sentAtMs + CLOCKS_MS || isAside(candidate, turn)) continue
    const score = scoreOf(candidate, turn)
    if (score > 0 && (best === undefined || score > best.score || isLater(candidate, best, score)))
      best = { candidate, score }
  }
  return best?.candidate
}

function isLater({ sentAtMs }: SentTurn, best: { candidate: SentTurn; score: number }, score: number): boolean {
  return score === best.score && sentAtMs >= best.candidate.sentAtMs
}

/** Returns whether one of the two is a request beside the conversation: without its tools, and with another model or rules. */
function isAside(a: SentTurn, b: SentTurn): boolean {
  const [toolsA, toolsB] = [a.sent.tools.tools.length > 0, b.sent.tools.tools.length > 0]
  if (toolsA === toolsB) return false
  return a.target.model !== b.target.model || !hasSameSystem(a, b)
}

function hasSameSystem({ sent: a }: SentTurn, { sent: b }: SentTurn): boolean {
  return (
    a.system.blocks.length === b.system.blocks.length &&
    a.system.blocks.every(({ fingerprint }, index) => fingerprint === b.system.blocks[index]?.fingerprint)
  )
}

/** Scores what two turns share: messages first, then tools and system text, without which a history was replaced. */
function scoreOf(before: SentTurn, turn: SentTurn): number {
  const shared = sharedMessages(before.sent.messages, turn.sent.messages)
  const hasTools = turn.sent.tools.tools.length > 0 && before.sent.tools.whole === turn.sent.tools.whole
  const hasSystem = turn.sent.system.blocks.length > 0 && hasSameSystem(before, turn)
  return shared * 4 + (hasTools ? 2 : 0) + (hasSystem ? 1 : 0)
}
