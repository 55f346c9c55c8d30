import type { z } from 'zod'
import type { Log } from '../core/ports/log.ts'
import type { Provider } from '../core/ports/provider.ts'
import type { TokenCounter } from '../core/ports/token-counter.ts'

/** What every provider is configured with, beside its own section: the members of `providers` that are no section. */
export interface ProviderSettings {
  readonly tries: number
  readonly connections: number
  readonly reply_limit: number
  readonly timeouts: { readonly connect: number; readonly first_byte: number; readonly idle: number }
  readonly proxy?: string | undefined
  readonly no_proxy?: string | undefined
  readonly forward_headers: readonly string[]
}

/** What a provider is made from. */
export interface ProviderParts {
  readonly settings: ProviderSettings
  /** Whether a caller's own credential is passed through where the operator gave none (local mode). */
  readonly passThrough: boolean
  /** Whether callers without a key of their own are given the operator's: always in local mode. */
  readonly isShared: boolean
  /** Whether calls tell which trace they belong to. */
  readonly isTraced?: boolean
  readonly log: Log
  /** For those that have no way to count tokens without answering. */
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
  /** One sentence for lists and help. */
  readonly summary: string
  /** The section of the configuration; it is parsed with `{}` when absent. */
  readonly options: Schema
  /** What is to be set for the providers that are there only when it is: the variable or option, by the provider's name. */
  readonly settings?: Readonly<Record<string, string>>
  /** The providers that the section asks for: usually one, none when it lacks what is needed. */
  create(options: z.output<Schema>, parts: ProviderParts): readonly Provider[] | Promise<readonly Provider[]>
}

/** Declares a kind of provider; the identity function, for its types. */
export function defineProviderKind<Schema extends z.ZodType>(kind: ProviderKind<Schema>): ProviderKind<Schema> {
  return kind
}
