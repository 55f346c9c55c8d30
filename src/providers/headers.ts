import { TAG_HEADER } from '../core/request/tags.ts'
import { betaTextOf, versionOf } from '../core/request/version-headers.ts'

/** Rules for the client headers that a provider receives. */
export interface HeaderRules {
  readonly prefixes: readonly string[]
  /** Version and beta headers go out under the provider's names and the specification's. */
  readonly hasVersions: boolean
}

/** Request headers that every provider receives. */
const FORWARDED = ['accept', 'accept-language', 'content-type', 'user-agent', 'x-app', 'idempotency-key']

/** Rules of the Messages API. */
export const MESSAGES_HEADERS: HeaderRules = {
  prefixes: ['anthropic-', 'x-stainless-', 'x-claude-code-'],
  hasVersions: true,
}

/** Rules of chat completions. */
export const CHAT_HEADERS: HeaderRules = { prefixes: ['openai-', 'x-stainless-'], hasVersions: false }

/** Rules of other APIs. */
export const PLAIN_HEADERS: HeaderRules = { prefixes: [], hasVersions: false }

/**
 * Headers for the gateway alone: a caller's credential, since the provider's is added under its own rules, and the caller's
 * tags, which are of no concern to a provider.
 */
const KEPT = new Set(['authorization', 'x-api-key', 'x-provider-key', 'cookie', TAG_HEADER])

/**
 * Headers that select an account of the credential's owner, or have meaning only within one account: of two
 * callers with the same idempotency key, the second would get the first one's answer.
 */
const OF_ACCOUNT =
  /^idempotency-key$|^(?:anthropic|openai)-(?:.*-)?(?:organi[sz]ation|org|project|workspace|account|tenant|customer|billing)(?:-|$)/

const VERSION_NAMES = ['anthropic-version', 'provider-version']
const BETA_NAMES = ['anthropic-beta', 'provider-beta']
const VERSIONED = new Set([...VERSION_NAMES, ...BETA_NAMES])

/** Headers about the client, its try or its route: they change no answer. Headers for plugins are listed elsewhere. */
const ABOUT_CLIENT =
  /^(?:x-stainless-|x-claude-code-|x-svc-|x-forwarded-|x-real-ip$|x-request-id$|x-app$|user-agent$|accept|content-type$|idempotency-key$)/

/** Decides which of a client's headers go on to a provider. */
export class HeaderForwarder {
  readonly #exact: ReadonlySet<string>
  readonly #allowed: ReadonlySet<string>
  readonly #prefixes: readonly string[]
  readonly #hasVersions: boolean
  /** Returns true for a header that the operator has named. */
  readonly #isOperators: ((name: string) => boolean) | undefined

  /** `extra` are the operator's own names, a trailing `*` matching any rest. */
  constructor({ prefixes, hasVersions }: HeaderRules, extra: readonly string[]) {
    const names = extra.map((name) => name.toLowerCase())
    this.#allowed = new Set(names.filter((name) => !name.endsWith('*')))
    this.#exact = new Set([...FORWARDED, ...this.#allowed])
    this.#prefixes = [...prefixes, ...names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))]
    this.#hasVersions = hasVersions
    this.#isOperators = names.length === 0 ? undefined : matcher(names)
  }

  /**
   * Returns a flat list of name, value, …. Headers that belong to an account are forwarded with the caller's own credential
   * only, or where the operator has named them in `forward_headers`.
   */
  forward(headers: NodeJS.Dict<string | string[]>, { isCallersOwn }: { isCallersOwn: boolean }): string[] {
    const list: string[] = []
    for (const name in headers) {
      const value = headers[name]
      if (value === undefined || !this.#isForwarded(name)) continue
      if (isCallersOwn || this.#allowed.has(name) || !OF_ACCOUNT.test(name))
        list.push(name, Array.isArray(value) ? value.join(', ') : value)
    }
    if (this.#hasVersions) {
      for (const name of VERSION_NAMES) pushIfSet(list, name, versionOf(headers))
      for (const name of BETA_NAMES) pushIfSet(list, name, betaTextOf(headers))
    }
    // Requests plain bytes: compressing an event stream delays it, and taps would have to decompress it.
    list.push('accept-encoding', 'identity')
    return list
  }

  /** Prints the headers that are forwarded because the operator named them; empty when there are none. */
  extras(headers: NodeJS.Dict<string | string[]>): string {
    if (this.#isOperators === undefined) return ''
    const extras: unknown[] = []
    for (const name in headers)
      if (this.#isOperators(name) && this.#isForwarded(name) && !ABOUT_CLIENT.test(name))
        extras.push(name, headers[name])
    return extras.length === 0 ? '' : JSON.stringify(extras)
  }

  #isForwarded(name: string): boolean {
    if (KEPT.has(name) || (this.#hasVersions && VERSIONED.has(name))) return false
    if (this.#exact.has(name)) return true
    for (const prefix of this.#prefixes) if (name.startsWith(prefix)) return true
    return false
  }
}

/** Merges flat lists of headers; of the same name in several lists, the last counts. */
export function mergeHeaders(...lists: readonly (readonly string[])[]): string[] {
  const merged = new Map<string, string>()
  for (const list of lists)
    for (let i = 0; i < list.length; i += 2) merged.set((list[i] ?? '').toLowerCase(), list[i + 1] ?? '')
  const flat: string[] = []
  for (const [name, value] of merged) flat.push(name, value)
  return flat
}

function pushIfSet(list: string[], name: string, value: string | undefined): void {
  if (value !== undefined) list.push(name, value)
}

function matcher(names: readonly string[]): (name: string) => boolean {
  const exact = new Set(names)
  const prefixes = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  return (name) => exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}
