/**
 * DESIGN — version and beta headers
 *
 * Clients may name the version and the betas of the Messages API under the specification's names (`provider-version`,
 * `provider-beta`) or the provider's own (`anthropic-version`, `anthropic-beta`), which every SDK sends. An explicit
 * `provider-version` wins over the SDK's; betas of both headers are joined, each once. All readers of these headers use
 * this file: forwarding, the cache identity of a request, and the decisions of plugins.
 */

/** Headers of a request, lower-case names. */
type Headers = Readonly<NodeJS.Dict<string | string[]>>

/** Returns the version that a client requests, or `undefined`. */
export function versionOf(headers: Headers): string | undefined {
  return textOf(headers['provider-version']) ?? textOf(headers['anthropic-version'])
}

/** Returns the betas that a client requests, as the text of one header: that of a single header unchanged. */
export function betaTextOf(headers: Headers): string | undefined {
  const own = textOf(headers['anthropic-beta'])
  const specified = textOf(headers['provider-beta'])
  if (own === undefined || specified === undefined || own === specified) return own ?? specified
  return namesIn(`${own},${specified}`).join(',')
}

/** Returns the betas that a client requests, each once. */
export function betasOf(headers: Headers): string[] {
  return namesIn(betaTextOf(headers) ?? '')
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

function namesIn(text: string): string[] {
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '')
}
