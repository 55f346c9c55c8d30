import type { TextRange } from 'turnpike/plugin'
import { preservedInMessage, sizesOf, type Taken } from './conversation.ts'
import { elide } from './elide.ts'
import type { Epoch } from './epochs.ts'
import { estimateTokens } from './estimate.ts'
import { labelOf } from './pointer.ts'
import { parseMessage, type RawMessage } from './raw-message.ts'
import { Shortener } from './shortener.ts'
import { stripFor } from './strip.ts'
import type { ToolCall } from './tool-results.ts'
import { valuesUsed } from './used-values.ts'

const LEAST_TOKENS = 150
/** The largest part of a text that may remain for it to be worth leaving the rest out. */
const MOST_KEPT = 0.7

/**
 * DESIGN: stage B. A conversation as it is seen in its last epoch.
 *
 *     messages   0 ………… cut 1 ………… cut 2 ………………… now
 *                elided by   elided by   shortened; pointers lead to what
 *                epoch 1     epoch 2     is still there, never to elided text
 *
 * A result is elided by the first epoch that reaches it, with what was known then, and stays as it was elided: so an epoch
 * changes nothing before the cut of the one before it.
 */
export class EpochView {
  readonly #epochs: readonly Epoch[]
  readonly #mayElide: (name: string) => boolean
  readonly #shortener = new Shortener()
  readonly #taken: Taken[] = []
  readonly #used = new Map<Epoch, ReadonlySet<string>>()

  constructor(epochs: readonly Epoch[], mayElide: (name: string) => boolean) {
    this.#epochs = epochs
    this.#mayElide = mayElide
  }

  /** Whether it shows the conversation with these epochs and these first messages. */
  fits(epochs: readonly Epoch[], messages: readonly RawMessage[]): boolean {
    if (this.#taken.length > messages.length) return false
    if (JSON.stringify(epochs) !== JSON.stringify(this.#epochs)) return false
    return this.#taken.every(({ identity }, index) => messages[index]?.identity === identity)
  }

  /** What becomes of each message; `whole` is what stage A makes of them. */
  take(messages: readonly RawMessage[], whole: readonly Taken[]): readonly Taken[] {
    for (const [index, raw] of messages.entries()) {
      if (index < this.#taken.length) continue
      const epoch = this.#epochs.find(({ cut }) => index < cut)
      const used = epoch === undefined ? undefined : this.#usedBefore(epoch, messages)
      const changes = this.#shortener.next(parseMessage(raw), {
        preservedIn: preservedInMessage(raw, index),
        ...(used && { elide: (...result) => this.#elide(used, ...result) }),
      })
      const { identity, rawBytes, results, tokensBefore } = whole[index]!
      this.#taken.push({ identity, rawBytes, results, ...sizesOf(tokensBefore, changes) })
    }
    return this.#taken
  }

  #elide(
    used: ReadonlySet<string>,
    text: string,
    call: ToolCall | undefined,
    preserved: readonly TextRange[],
  ): string | undefined {
    if (call === undefined || !this.#mayElide(call.name)) return undefined
    const before = estimateTokens(text)
    if (before < LEAST_TOKENS) return undefined
    const elided = elide(text, { strip: stripFor(call), label: labelOf(call), used, preserved })
    return estimateTokens(elided) <= before * MOST_KEPT ? elided : undefined
  }

  /** What the assistant has used up to the beginning of an epoch. */
  #usedBefore(epoch: Epoch, messages: readonly RawMessage[]): ReadonlySet<string> {
    let used = this.#used.get(epoch)
    if (used === undefined) {
      used = valuesUsed(messages.slice(0, epoch.begins).map(parseMessage))
      this.#used.set(epoch, used)
    }
    return used
  }
}
