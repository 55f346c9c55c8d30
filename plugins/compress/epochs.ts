/**
 * DESIGN: when old results are left out, and which are old.
 *
 * A result that is left out changes the prompt before its end, and the provider bills everything behind it again. So it
 * is done rarely, many at a time, and the same on every later call:
 *
 *     tokens of the conversation ──────────────────────────────────────────────────►
 *            start            start + step          start + 2 × step
 *              │ epoch 1            │ epoch 2             │ epoch 3
 *     ◄─ cut 1 ┤◄─ keep ─►   ◄─ cut 2 ┤◄─ keep ─►
 *
 * Guarantees: epochs are a function of the messages alone, so that another instance and a new process come to the same;
 * between two epochs nothing that was sent changes. A cold cache, which only the clock tells, may add an epoch of its own.
 */

/** When epochs begin, and what each leaves alone. */
export interface EpochSettings {
  /** Tokens of the conversation with which the first epoch begins. */
  readonly startTokens: number
  /** Tokens by which it grows until the next one begins. */
  readonly stepTokens: number
  /** The last of the conversation that an epoch leaves alone: at least so many tokens and so many results. */
  readonly keepTokens: number
  readonly keepResults: number
}

/** What epochs look at in a message. */
export interface MessageSize {
  readonly tokensAfter: number
  readonly results: number
}

/** From the call with `begins` messages on, results in the first `cut` messages are left out. */
export interface Epoch {
  readonly begins: number
  readonly cut: number
}

/** The epochs of a conversation, oldest first. `cold` are numbers of messages at which its cache was found to be cold. */
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

/** How many messages of those that there are lie before what is kept. */
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
