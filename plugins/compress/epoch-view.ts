import { preservedInMessage, sizesOf, type Taken } from './conversation.ts'
import { elide } from './elide.ts'
import type { Epoch } from './epochs.ts'
import { estimateTokens } from './estimate.ts'
import { labelOf } from './naming.ts'
import type { PressurePolicy } from './pressure.ts'
import type { RawMessage } from './raw-message.ts'
import { type ElideResult, Shortener } from './shortener.ts'
import { stripFile, stripOutput } from './strip.ts'

const LEAST_TOKENS = 150
/** Largest remaining share of a text for which elision is worthwhile. */
const MOST_KEPT = 0.7

/**
 * DESIGN: stage B. A conversation as of its last epoch.
 *
 *     messages   0 ………… cut 1 ………… cut 2 ………………… now
 *                elided by   elided by   shortened; pointers lead to what
 *                epoch 1     epoch 2     is still there, never to elided text
 *
 * The elided form of a result depends on the result alone, so that an epoch
 * changes nothing before the cut of the one before it.
 */
export class EpochView {
  readonly #epochs: readonly Epoch[]
  readonly #mayElide: (name: string) => boolean
  readonly #shortener: Shortener
  readonly #taken: Taken[] = []

  constructor(epochs: readonly Epoch[], { mayElide, keyOf }: Pick<PressurePolicy, 'mayElide' | 'keyOf'>) {
    this.#epochs = epochs
    this.#mayElide = mayElide
    this.#shortener = new Shortener(keyOf)
  }

  /** Tests that the view shows the conversation with these epochs and these first messages. */
  fits(epochs: readonly Epoch[], messages: readonly RawMessage[]): boolean {
    if (this.#taken.length > messages.length) return false
    if (JSON.stringify(epochs) !== JSON.stringify(this.#epochs)) return false
    return this.#taken.every(({ identity }, index) => messages[index]?.identity === identity)
  }

  /** Returns the elided messages; `whole` are those of stage A. */
  take(messages: readonly RawMessage[], whole: readonly Taken[]): readonly Taken[] {
    for (const [index, raw] of messages.entries()) {
      if (index < this.#taken.length) continue
      const isOld = index < (this.#epochs.at(-1)?.cut ?? 0)
      const changes = this.#shortener.next(raw.parse(), {
        preservedIn: preservedInMessage(raw, index),
        ...(isOld && { elide: this.#elide }),
      })
      const { identity, rawBytes, results, tokensBefore } = whole[index]!
      this.#taken.push({ identity, rawBytes, results, ...sizesOf(tokensBefore, changes) })
    }
    return this.#taken
  }

  #elide: ElideResult = (text, call, { preserved, isFile }) => {
    if (call === undefined || !this.#mayElide(call.name)) return undefined
    const before = estimateTokens(text)
    if (before < LEAST_TOKENS) return undefined
    const elided = elide(text, { strip: isFile ? stripFile : stripOutput, label: labelOf(call), preserved })
    return estimateTokens(elided) <= before * MOST_KEPT ? elided : undefined
  }
}
