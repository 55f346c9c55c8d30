const SHARED = /^(?:public|s-maxage(?:=.*)?)$/

/**
 * The `cache-control` with which a provider's reply goes out: no cache that others use may store it, since its address
 * does not name its caller (RFC 9111 §3.5 protects requests with `authorization` alone, and keys come in other headers
 * too). What the provider says for its reader's own cache stays.
 */
export function keptPrivate(value: string | readonly string[] | undefined): string {
  if (value === undefined) return 'private'
  const directives = String(value)
    .split(',')
    .map((directive) => directive.trim().toLowerCase())
  // Quoted values may hold commas, and words that look like directives.
  if (directives.some((directive) => directive.includes('"'))) return 'no-store'
  const kept = directives.filter((directive) => directive !== '' && !SHARED.test(directive))
  return kept.includes('private') || kept.includes('no-store') ? kept.join(', ') : ['private', ...kept].join(', ')
}
