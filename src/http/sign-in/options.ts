import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import type { Devices } from '../../accounts/sign-in/devices.ts'
import type { SignIn } from '../../accounts/sign-in/sign-in.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { RateLimiter } from '../../core/ports/rate-limit.ts'
import type { SignInStore } from '../../core/ports/sign-in.ts'
import { urlHere } from '../../core/system/listen-address.ts'
import { clientSubnet } from '../client-subnet.ts'
import { retryAfter } from '../retry-after.ts'

/** Sign-in by OpenID Connect, and what its routes need. */
export interface SignInParts {
  /** Name of the identity provider on the button. */
  readonly name: string
  readonly signIn: SignIn
  readonly devices: Devices
  readonly store: SignInStore
  /** Counts requests without a credential by address, and tries of codes by user. */
  readonly limiter: RateLimiter
  /** False where all clients share the address of a proxy. */
  readonly countsAddresses: boolean
  /** Configured address of the gateway, without a slash at its end; unset on loopback alone. */
  readonly publicUrl: string | undefined
  /** Address to listen on. */
  readonly host: string
  readonly clock: Clock
}

/** Returns the gateway's own address, which never depends on a header of the request. */
export function publicUrlOf({ publicUrl, host }: Pick<SignInParts, 'publicUrl' | 'host'>, ctx: Context): string {
  return publicUrl ?? urlHere(host, ctx.req.socket.localPort ?? 0)
}

/** Counts a request without a credential. Throws `rate_limit_error`. */
export async function countAddress(
  { limiter, countsAddresses }: SignInParts,
  request: IncomingMessage,
  { what, most }: { what: string; most: number },
): Promise<void> {
  if (countsAddresses) await count(limiter, `${what}:${clientSubnet(request.socket.remoteAddress)}`, most)
}

/** Counts one of a key's requests, at most so many a minute. Throws `rate_limit_error`. */
export async function count(limiter: RateLimiter, key: string, most: number): Promise<void> {
  const { isAllowed, retryMs } = await limiter.take(key, most)
  if (isAllowed) return
  throw new GatewayError('rate_limit_error', 'Too many tries. Wait a moment.', {
    headers: { 'retry-after': retryAfter(retryMs) },
  })
}

const LONGEST_CLIENT = 120

/** Returns a name that a client gives itself, as plain text: at most 120 characters, no controls, no direction marks. */
export function clientName(text: string): string {
  return (
    text
      .replaceAll(/[\p{C}]/gu, '')
      .trim()
      .slice(0, LONGEST_CLIENT) || 'unknown'
  )
}
