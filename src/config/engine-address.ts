import { z } from 'zod'

/** Behind the host: the end of credentials that hold a raw `/`, `?` or `#`. A query has its `@` in values. */
const CREDENTIALS_GO_ON = /^(?:\/[^?#]*|\?[^=#]*|[^#]*#.*)@/

/**
 * An address of a database or cache, with credentials. One whose password is not percent-encoded is refused: its host would
 * be read from the password, and messages show hosts.
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
