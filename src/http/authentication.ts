import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { type AuthenticateKey, type KeyHolder, KeyRefused } from '../accounts/keys/authenticate.ts'
import { isWellFormedKey } from '../accounts/keys/key-format.ts'
import { GatewayError } from '../core/errors.ts'
import type { PresentedCredential } from '../core/ports/provider.ts'
import type { RateLimiter } from '../core/ports/rate-limit.ts'
import type { Caller } from '../core/request/caller.ts'
import type { PartialRequest } from '../core/request/partial-request.ts'
import { entryLimit } from '../core/system/entry-limit.ts'
import { clientSubnet } from './client-subnet.ts'
import { presentedCredential, providerKeyOf } from './credential.ts'
import type { RequestLimits } from './rate-limit.ts'
import { retryAfter } from './retry-after.ts'

/** Headers of a request, lower-case names. */
type Headers = NodeJS.Dict<string | string[]>

/** The authenticated party behind a request. */
export interface Authenticated {
  readonly caller: Caller
  /** The caller's own credential for providers; in cloud mode never the API key. */
  readonly credential: PresentedCredential | undefined
  /** The pipeline of the caller's key; `null` or unset: the operator's pipeline. */
  readonly pipelineConfig?: string | null
}

/** Returns the caller of a request; synchronous where no lookup is needed. Throws `authentication_error`. */
export type Authenticate = (headers: Headers) => Authenticated | Promise<Authenticated>

const MOST_CALLERS_KEPT = 10_000

/** Authenticates in local mode: accepts any credential; each distinct one is a scope of its own. */
export function createLocalAuthenticate(): Authenticate {
  const callers = new LRUCache<string, Caller>(entryLimit(MOST_CALLERS_KEPT))
  return (headers) => {
    const credential = presentedCredential(headers)
    const known = callers.get(credential.secret)
    if (known !== undefined) return { caller: known, credential }
    const caller: Caller = { kind: 'local', scope: `local:${hash('sha256', credential.secret, 'base64url')}` }
    callers.set(credential.secret, caller)
    return { caller, credential }
  }
}

/**
 * Authenticates in cloud mode: the credential is an API key, which no provider receives; only the caller's own provider
 * key is forwarded.
 */
export function createCloudAuthenticate(authenticateKey: AuthenticateKey): Authenticate {
  return (headers) => {
    const credential = providerKeyOf(headers)
    const authenticated = (holder: KeyHolder): Authenticated => ({ ...holder, credential })
    const holder = authenticateKey(presentedCredential(headers, isWellFormedKey).secret)
    return holder instanceof Promise ? holder.then(authenticated) : authenticated(holder)
  }
}

/**
 * Authenticates a request and sets its caller in `partialRequest`, also for a revoked key. Counts failures by client
 * subnet, against guessing. Throws `authentication_error`, `rate_limit_error`.
 */
export async function authenticateRequest(
  request: IncomingMessage,
  {
    authenticate,
    limits,
    partialRequest,
  }: {
    authenticate: Authenticate
    limits: Pick<RequestLimits, 'failures' | 'networks'>
    partialRequest?: PartialRequest
  },
): Promise<Authenticated> {
  try {
    const authenticated = await authenticate(request.headers)
    const { caller } = authenticated
    if (partialRequest !== undefined) partialRequest.caller = caller
    limits.networks?.note(caller, request.socket.remoteAddress)
    return authenticated
  } catch (error) {
    if (partialRequest !== undefined && error instanceof KeyRefused) partialRequest.caller = error.caller
    await countFailedAuthentication(limits.failures, request, error)
    throw error
  }
}

/** Counts a refused credential; throws `rate_limit_error` once its subnet has sent too many. */
export async function countFailedAuthentication(
  limiter: RateLimiter | undefined,
  { socket }: IncomingMessage,
  error: unknown,
): Promise<void> {
  if (!(error instanceof GatewayError && error.code === 'authentication_error')) return
  const decision = await limiter?.take(clientSubnet(socket.remoteAddress))
  if (decision === undefined || decision.isAllowed) return
  throw new GatewayError('rate_limit_error', 'Too many failed authentications from this address.', {
    headers: { 'retry-after': retryAfter(decision.retryMs) },
  })
}
