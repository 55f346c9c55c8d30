import type { RelayCall } from '../../core/ports/provider.ts'
import type { Reply } from '../../core/reply/reply.ts'
import { betasOf as askedBetas } from '../../core/request/version-headers.ts'
import { addDroppedNames } from '../dropped-fields-header.ts'

/**
 * Betas that say who the client is, or how it has signed in, and not what it asks for. Clouds refuse a request with a beta
 * that they do not have, so these are left out unless the operator says otherwise.
 */
export const CLIENT_BETAS = ['claude-code-*', 'oauth-*']

/** The betas that a client asks for. */
export interface Betas {
  readonly kept: readonly string[]
  /** Those that are not passed on. */
  readonly leftOut: readonly string[]
}

/**
 * The betas that a client asks for, under either of the header's names, each once. Those that match one of `patterns` (a
 * trailing `*` matches any rest) are left out.
 */
export function betasOf(headers: RelayCall['headers'], patterns: readonly string[]): Betas {
  const betas = askedBetas(headers)
  const isLeftOut = (name: string) => patterns.some((pattern) => matches(pattern, name))
  return { kept: betas.filter((name) => !isLeftOut(name)), leftOut: betas.filter(isLeftOut) }
}

/** Says in the reply's headers which betas were left out, beside what else was. */
export function tellLeftOut(reply: Reply, leftOut: readonly string[]): Reply {
  return addDroppedNames(
    reply,
    leftOut.map((name) => `anthropic-beta.${name}`),
  )
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
