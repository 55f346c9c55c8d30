import type { PresentedCredential } from '../core/ports.ts'

/** Request headers that every provider of the Messages dialect may be sent, beside `anthropic-*` and `x-stainless-*`. */
const FORWARDED = new Set(['accept', 'accept-language', 'content-type', 'user-agent', 'x-app', 'idempotency-key'])
const FORWARDED_PREFIXES = ['anthropic-', 'x-stainless-', 'x-claude-code-']

/** The version and beta headers have two names each; the value goes out under both. */
const TWINS: readonly [string, string][] = [
  ['anthropic-version', 'provider-version'],
  ['anthropic-beta', 'provider-beta'],
]
const TWIN_NAMES = new Set(TWINS.flat())

/** Decides which of a client's headers go on to a provider. */
export class HeaderForwarder {
  #exact: Set<string>
  #prefixes: string[]

  /** `extra` are the operator's own names, a trailing `*` matching any rest. */
  constructor(extra: readonly string[]) {
    const names = extra.map((name) => name.toLowerCase())
    this.#exact = new Set([...FORWARDED, ...names.filter((name) => !name.endsWith('*'))])
    this.#prefixes = [
      ...FORWARDED_PREFIXES,
      ...names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1)),
    ]
  }

  /** A flat list of name, value, …: what is forwarded, the twins, and the credential. */
  forward(headers: NodeJS.Dict<string | string[]>, credential: PresentedCredential | undefined): string[] {
    const list: string[] = []
    for (const name in headers) {
      const value = headers[name]
      if (value !== undefined && this.#isForwarded(name))
        list.push(name, Array.isArray(value) ? value.join(', ') : value)
    }
    for (const twins of TWINS) {
      const value = versionHeader(headers, twins)
      if (value !== undefined) list.push(twins[0], value, twins[1], value)
    }
    // Plain bytes are asked for: compressing an event stream delays it, and taps would have to decompress it.
    list.push('accept-encoding', 'identity')
    if (credential?.header === 'x-api-key') list.push('x-api-key', credential.secret)
    if (credential?.header === 'authorization') list.push('authorization', `Bearer ${credential.secret}`)
    return list
  }

  #isForwarded(name: string): boolean {
    if (TWIN_NAMES.has(name)) return false
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
