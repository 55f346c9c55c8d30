import type { z } from 'zod'
import type { Log } from '../core/ports/log.ts'
import type { Provider } from '../core/ports/provider.ts'
import type { TokenCounter } from '../core/ports/token-counter.ts'

/** Settings common to all providers: the members of `providers` that are no provider's section. */
export interface ProviderSettings {
  readonly tries: number
  readonly connections: number
  readonly reply_limit: number
  readonly timeouts: { readonly connect: number; readonly first_byte: number; readonly idle: number }
  readonly proxy?: string | undefined
  readonly no_proxy?: string | undefined
  readonly forward_headers: readonly string[]
}

/** Dependencies of a provider. */
export interface ProviderParts {
  readonly settings: ProviderSettings
  /** True when a caller's own credential is passed through where the operator configured none (local mode). */
  readonly passThrough: boolean
  /** True when callers without a key of their own use the operator's: always in local mode. */
  readonly isShared: boolean
  /** True when calls carry a trace context. */
  readonly isTraced?: boolean
  readonly log: Log
  /** For providers that cannot count tokens without generating a reply. */
  readonly tokens: TokenCounter
  readonly random: () => number
  /** Monotonic time in milliseconds. */
  readonly nowMs: () => number
}

/**
 * A kind of provider: a folder of this directory, whose `index.ts` exports it as `kind`. The folder is all there is to
 * add: its options become the section `providers.<name>` of the configuration, with the environment variables that the
 * schema names, and what it creates answers to the prefix `<name>/`.
 */
export interface ProviderKind<Schema extends z.ZodType = z.ZodType> {
  /** Equals the folder's name. */
  readonly name: string
  /** One sentence, for lists and help. */
  readonly summary: string
  /** Schema of the configuration's section; it is parsed with `{}` when absent. */
  readonly options: Schema
  /** Setting that enables each optional provider: its variable or option, by the provider's name. */
  readonly settings?: Readonly<Record<string, string>>
  /** Creates the providers of the section: usually one, none when a required option is missing. */
  create(options: z.output<Schema>, parts: ProviderParts): readonly Provider[] | Promise<readonly Provider[]>
}

/** Declares a kind of provider; the identity function, for type inference. */
export function defineProviderKind<Schema extends z.ZodType>(kind: ProviderKind<Schema>): ProviderKind<Schema> {
  return kind
}
