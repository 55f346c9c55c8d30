import type { RelayCall } from '../../core/ports/provider.ts'
import type { Reply } from '../../core/reply/reply.ts'
import { betasOf as askedBetas } from '../../core/request/version-headers.ts'
import { addDroppedNames } from '../dropped-fields-header.ts'

/**
 * Betas that identify the client or its sign-in rather than a feature. Clouds refuse a request with a beta that they do
 * not have, so these are removed unless the operator configures otherwise.
 */
export const CLIENT_BETAS = ['claude-code-*', 'oauth-*']

/** The betas that a client requests. */
export interface Betas {
  readonly kept: readonly string[]
  /** Betas that are not forwarded. */
  readonly leftOut: readonly string[]
}

/**
 * Returns the betas that a client requests, under either of the header's names, each once. Those that match one of
 * `patterns` (a trailing `*` matches any rest) are left out.
 */
export function betasOf(headers: RelayCall['headers'], patterns: readonly string[]): Betas {
  const betas = askedBetas(headers)
  const isLeftOut = (name: string) => patterns.some((pattern) => matches(pattern, name))
  return { kept: betas.filter((name) => !isLeftOut(name)), leftOut: betas.filter(isLeftOut) }
}

/** Adds the betas that were left out to the reply's dropped fields. */
export function addLeftOut(reply: Reply, leftOut: readonly string[]): Reply {
  return addDroppedNames(
    reply,
    leftOut.map((name) => `anthropic-beta.${name}`),
  )
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
