/**
 * DESIGN: when old results are elided, and which are old.
 *
 * Eliding a result changes the prompt before its end, and the provider bills everything behind it again. So it is done
 * rarely, in batches, and identically on every later call:
 *
 *     tokens of the conversation ──────────────────────────────────────────────────►
 *            start            start + step          start + 2 × step
 *              │ epoch 1            │ epoch 2             │ epoch 3
 *     ◄─ cut 1 ┤◄─ keep ─►   ◄─ cut 2 ┤◄─ keep ─►
 *
 * Guarantees: epochs are a function of the messages alone, so that another instance and a new process come to the same;
 * between two epochs no sent message changes. A cold cache, which depends on the clock, may add an epoch of its own.
 */

/** Thresholds of epochs. */
export interface EpochSettings {
  /** Tokens of the conversation at which the first epoch begins. */
  readonly startTokens: number
  /** Tokens of growth between epochs. */
  readonly stepTokens: number
  /** End of the conversation that an epoch preserves: at least this many tokens and results. */
  readonly keepTokens: number
  readonly keepResults: number
}

/** Size of a message, as epochs need it. */
export interface MessageSize {
  readonly tokensAfter: number
  readonly results: number
}

/** Epoch: from the call with `begins` messages on, results in the first `cut` messages are elided. */
export interface Epoch {
  readonly begins: number
  readonly cut: number
}

/** Returns the epochs of a conversation, oldest first. `cold` are message counts at which its cache was cold. */
export function epochsOf(
  messages: readonly MessageSize[],
  settings: EpochSettings,
  cold: readonly number[] = [],
): Epoch[] {
  const epochs: Epoch[] = []
  let tokens = 0
  let next = settings.startTokens
  for (const [index, { tokensAfter }] of messages.entries()) {
    tokens += tokensAfter
    const begins = index + 1
    const isFull = tokens >= next
    while (tokens >= next) next += settings.stepTokens
    if (!isFull && !cold.includes(begins)) continue
    const cut = cutOf(messages.slice(0, begins), settings)
    if (cut > (epochs.at(-1)?.cut ?? 0)) epochs.push({ begins, cut })
  }
  return epochs
}

/** Returns the number of messages before the preserved end. */
function cutOf(messages: readonly MessageSize[], { keepTokens, keepResults }: EpochSettings): number {
  let cut = messages.length
  let tokens = 0
  let results = 0
  while (cut > 0 && (tokens < keepTokens || results < keepResults)) {
    cut--
    tokens += messages[cut]?.tokensAfter ?? 0
    results += messages[cut]?.results ?? 0
  }
  return cut
}
