const SHARED = /^(?:public|s-maxage(?:=.*)?)$/

/**
 * Returns the `cache-control` of a forwarded reply: no shared cache may store it, since its URL does not identify the
 * caller (RFC 9111 §3.5 protects only requests with `authorization`, and keys come in other headers too). The
 * provider's directives for private caches are kept.
 */
export function keptPrivate(value: string | readonly string[] | undefined): string {
  if (value === undefined) return 'private'
  const directives = String(value)
    .split(',')
    .map((directive) => directive.trim().toLowerCase())
  // Quoted values may contain commas and words that look like directives.
  if (directives.some((directive) => directive.includes('"'))) return 'no-store'
  const kept = directives.filter((directive) => directive !== '' && !SHARED.test(directive))
  return kept.includes('private') || kept.includes('no-store') ? kept.join(', ') : ['private', ...kept].join(', ')
}
