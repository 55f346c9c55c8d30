/** Reasons for a prefix that was not read from the provider's prompt cache: labels of a metric, so they are few and fixed. */
export const LOSS_REASONS = [
  ...(['model', 'key', 'tools', 'system', 'messages', 'compaction', 'plugin', 'beta', 'settings'] as const),
  ...(['expired', 'marks', 'unmarked', 'too_short', 'unread', 'unknown'] as const),
] as const

/** Reason for a prefix that was not read. */
export type LossReason = (typeof LOSS_REASONS)[number]

/** A prefix that should have been read from the provider's prompt cache, and was not. */
export interface PrefixLoss {
  readonly reason: LossReason
  /** The field that changed, in words, without the text of a prompt; at most 300 characters. */
  readonly detail: string
  /** Tokens that should have been read and were not. */
  readonly tokens: number
  /** Their price as paid, minus that of reading them. */
  readonly nanoUsd: number
}
