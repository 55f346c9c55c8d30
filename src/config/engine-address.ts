import { z } from 'zod'

/**
 * Matches behind the host: the end of credentials that hold a raw `/`, `?` or `#`. A query may have `@` in its values.
 */
const CREDENTIALS_GO_ON = /^(?:\/[^?#]*|\?[^=#]*|[^#]*#.*)@/

/**
 * Returns a schema for the address of a database or cache, with credentials. Refuses a password that is not
 * percent-encoded: the host would be parsed from the password, and messages show hosts.
 */
export function engineAddress(protocol: RegExp, path = /^/) {
  return z
    .url({ protocol, abort: true })
    .refine((text) => !CREDENTIALS_GO_ON.test(behindHost(text)), {
      error: 'expected user and password percent-encoded: `/` as `%2F`, `?` as `%3F`, `#` as `%23`, `@` as `%40`',
      abort: true,
    })
    .refine((text) => path.test(new URL(text).pathname), 'expected a number, the database, behind the host')
}

function behindHost(text: string): string {
  const { pathname, search, hash } = new URL(text)
  return pathname + search + hash
}
