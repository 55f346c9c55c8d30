/** Which headers of a client a provider is sent, and under which names. */
export interface HeaderRules {
  readonly prefixes: readonly string[]
  /** Headers that have two names each; the value goes out under both, and the first name wins. */
  readonly twins: readonly (readonly [string, string])[]
}

/** Request headers that every provider may be sent. */
const FORWARDED = ['accept', 'accept-language', 'content-type', 'user-agent', 'x-app', 'idempotency-key']

/** Of the Messages API: version and beta headers go out under the provider's name and the specification's. */
export const MESSAGES_HEADERS: HeaderRules = {
  prefixes: ['anthropic-', 'x-stainless-', 'x-claude-code-'],
  twins: [
    ['anthropic-version', 'provider-version'],
    ['anthropic-beta', 'provider-beta'],
  ],
}

/** Of chat completions. */
export const CHAT_HEADERS: HeaderRules = { prefixes: ['openai-', 'x-stainless-'], twins: [] }

/** Headers that carry a caller's credential to the gateway; a provider's is put there under its own rules. */
const CREDENTIALS = new Set(['authorization', 'x-api-key', 'x-provider-key', 'cookie'])

/** Of other APIs. */
export const PLAIN_HEADERS: HeaderRules = { prefixes: [], twins: [] }

/** Decides which of a client's headers go on to a provider. */
export class HeaderForwarder {
  readonly #exact: ReadonlySet<string>
  readonly #prefixes: readonly string[]
  readonly #twins: HeaderRules['twins']
  readonly #twinNames: ReadonlySet<string>

  /** `extra` are the operator's own names, a trailing `*` matching any rest. */
  constructor({ prefixes, twins }: HeaderRules, extra: readonly string[]) {
    const names = extra.map((name) => name.toLowerCase())
    this.#exact = new Set([...FORWARDED, ...names.filter((name) => !name.endsWith('*'))])
    this.#prefixes = [...prefixes, ...names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))]
    this.#twins = twins
    this.#twinNames = new Set(twins.flat())
  }

  /** A flat list of name, value, …: what is forwarded, and the twins. */
  forward(headers: NodeJS.Dict<string | string[]>): string[] {
    const list: string[] = []
    for (const name in headers) {
      const value = headers[name]
      if (value !== undefined && this.#isForwarded(name))
        list.push(name, Array.isArray(value) ? value.join(', ') : value)
    }
    for (const twins of this.#twins) {
      const value = versionHeader(headers, twins)
      if (value !== undefined) list.push(twins[0], value, twins[1], value)
    }
    // Plain bytes are asked for: compressing an event stream delays it, and taps would have to decompress it.
    list.push('accept-encoding', 'identity')
    return list
  }

  #isForwarded(name: string): boolean {
    if (this.#twinNames.has(name) || CREDENTIALS.has(name)) return false
    if (this.#exact.has(name)) return true
    for (const prefix of this.#prefixes) if (name.startsWith(prefix)) return true
    return false
  }
}

/** The value of a version or beta header, under either of its names; the provider's own name wins. */
function versionHeader(headers: NodeJS.Dict<string | string[]>, names: readonly [string, string]): string | undefined {
  const value = headers[names[0]] ?? headers[names[1]]
  return Array.isArray(value) ? value.join(', ') : value
}
