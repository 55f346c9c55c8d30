import type { Conversation, Taken } from './conversation.ts'
import { EpochView } from './epoch-view.ts'
import { type EpochSettings, epochsOf } from './epochs.ts'
import type { RawMessage } from './raw-message.ts'
import type { KeyOf } from './shortener.ts'

/** Policy for eliding old results: thresholds, and the tools concerned. */
export interface PressurePolicy {
  readonly settings: EpochSettings
  readonly mayElide: (name: string) => boolean
  readonly keyOf: KeyOf
  /** Idle time after which the provider's cache is cold, in milliseconds; `undefined` disables that trigger. */
  readonly coldAfterMs: number | undefined
}

/** Conversation as the provider is to receive it. */
export interface Seen {
  readonly taken: readonly Taken[]
  readonly epochs: number
}

/** Fewest tokens that an epoch for a cold cache must save. */
const LEAST_COLD_TOKENS = 2000

/** Elides old results of a conversation that has grown too large, or whose cache is cold. */
export function underPressure(
  conversation: Conversation,
  { messages, whole, nowMs }: { messages: readonly RawMessage[]; whole: readonly Taken[]; nowMs: number },
  policy: PressurePolicy,
): Seen {
  const { settings, coldAfterMs } = policy
  const memory = conversation.pressure
  memory.cold = memory.cold.filter((begins) => begins <= messages.length)
  const idleMs = nowMs - (memory.seenAtMs ?? nowMs)
  memory.seenAtMs = nowMs
  const see = (cold: readonly number[]): Seen & { view: EpochView | undefined } => {
    const epochs = epochsOf(whole, settings, cold)
    if (epochs.length === 0) return { taken: whole, epochs: 0, view: undefined }
    const view = memory.view?.fits(epochs, messages) ? memory.view : new EpochView(epochs, policy)
    return { taken: view.take(messages, whole), epochs: epochs.length, view }
  }
  let seen = see(memory.cold)
  if (coldAfterMs !== undefined && idleMs > coldAfterMs) {
    const cold = [...memory.cold, messages.length]
    const advanced = see(cold)
    if (tokensOf(seen.taken) - tokensOf(advanced.taken) >= LEAST_COLD_TOKENS) {
      memory.cold = cold
      seen = advanced
    }
  }
  memory.view = seen.view
  return seen
}

function tokensOf(taken: readonly Taken[]): number {
  return taken.reduce((sum, { tokensAfter }) => sum + tokensAfter, 0)
}
