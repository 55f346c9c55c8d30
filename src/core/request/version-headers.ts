/**
 * DESIGN — version and beta headers
 *
 * Clients may name the version and the betas of the Messages API under the specification's names (`provider-version`,
 * `provider-beta`) or the provider's own (`anthropic-version`, `anthropic-beta`), which every SDK sends. An explicit
 * `provider-version` wins over the SDK's; betas of both headers are joined, each once. Whatever depends on these headers
 * reads them here: what is forwarded, what identifies a request for a cache, and what modules decide by.
 */

/** Headers of a request, lower-case names. */
type Headers = Readonly<NodeJS.Dict<string | string[]>>

/** The version that a client asks for, or `undefined`. */
export function versionOf(headers: Headers): string | undefined {
  return textOf(headers['provider-version']) ?? textOf(headers['anthropic-version'])
}

/** The betas that a client asks for, as the text of one header: that of a single header unchanged. */
export function betaTextOf(headers: Headers): string | undefined {
  const own = textOf(headers['anthropic-beta'])
  const specified = textOf(headers['provider-beta'])
  if (own === undefined || specified === undefined || own === specified) return own ?? specified
  return namesIn(`${own},${specified}`).join(',')
}

/** The betas that a client asks for, each once. */
export function betasOf(headers: Headers): string[] {
  return namesIn(betaTextOf(headers) ?? '')
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

function namesIn(text: string): string[] {
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '')
}
