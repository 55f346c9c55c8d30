import type { Target } from '../../core/request/exchange.ts'
import type { PrefixDigest } from './digest.ts'
import type { Api } from './read-prefix.ts'

/** A request that a provider answered, as far as its prompt cache is concerned. */
export interface SentTurn {
  readonly target: Target
  readonly api: Api
  /** Digest of the provider's credential. */
  readonly account: string
  /** Betas that were requested, sorted. */
  readonly betas: readonly string[]
  /** The prefix that was sent. */
  readonly sent: PrefixDigest
  /** The prefix without the edits of plugins: `sent` itself where there were none; `undefined` where it is not known. */
  readonly unedited: PrefixDigest | undefined
  /** Plugins that edited the request, with the part of the prompt. */
  readonly edits: readonly PromptEdit[]
  readonly tokens: InputTokens
  /** Moment of its admission, in milliseconds since 1970. */
  readonly sentAtMs: number
  /** Moment at which its reply began: from then on its prefix is in the cache. */
  readonly beganAtMs: number
}

/** An edit of a plugin. */
export interface PromptEdit {
  readonly module: string
  /** `tools`, `system`, `messages`, or another field. */
  readonly field: string
}

/** Input tokens of a reply, as the provider reported them. */
export interface InputTokens {
  readonly fresh: number
  readonly read: number
  readonly written: number
}

/** Returns all input tokens. */
export function totalOf({ fresh, read, written }: InputTokens): number {
  return fresh + read + written
}
