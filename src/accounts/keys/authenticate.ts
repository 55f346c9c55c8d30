import { LRUCache } from 'lru-cache'
import { GatewayError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { KeyInUse, KeyLookup } from '../../core/ports/keys.ts'
import type { Caller } from '../../core/request/caller.ts'
import { entryLimit } from '../../core/system/entry-limit.ts'
import { createCallerOf } from './caller-of-key.ts'
import { isWellFormedKey } from './key-format.ts'
import type { HashKey } from './key-hash.ts'

/** A request's caller, and the pipeline of its key. */
export interface KeyHolder {
  readonly caller: Caller
  /** `null`: the operator's default. */
  readonly pipelineConfig: string | null
}

/**
 * Returns the holder of a key, looked up for each request. Throws `authentication_error`, `key_revoked`,
 * `key_expired`, `permission_error` for a suspended account or key, `service_unavailable`. Synchronous where the database is.
 */
export type AuthenticateKey = (key: string) => KeyHolder | Promise<KeyHolder>

/** Dependencies of key authentication. */
export interface AuthenticateKeyOptions {
  readonly lookup: KeyLookup
  readonly hashKey: HashKey
  readonly onUse: (keyId: string) => void
  readonly clock: Clock
}

/** Well-formed keys without access: guesses, revoked keys, and keys of another gateway, sent repeatedly. */
const MOST_REFUSED = 10_000
const REFUSED_FOR_MS = 5000

/** A refused key, identified by its hash. */
interface Refused {
  readonly untilMs: number
  /** Set for a revoked key. */
  readonly caller: Caller | undefined
}

/** Creates the authentication by API key. */
export function createAuthenticateKey({ lookup, hashKey, onUse, clock }: AuthenticateKeyOptions): AuthenticateKey {
  const refused = new LRUCache<string, Refused>(entryLimit(MOST_REFUSED))
  const callerOf = createCallerOf()
  const accept = (hash: string, found: KeyInUse | undefined): KeyHolder => {
    const caller = found && callerOf(found)
    if (found === undefined || caller === undefined || found.revokedAtMs !== null) {
      // No key is ever created with the hash of an earlier try, nor is a revocation undone.
      refused.set(hash, { caller, untilMs: clock.nowMs() + REFUSED_FOR_MS })
      throw caller === undefined ? unknown() : revoked(caller)
    }
    assertInForce(found, { caller, isPrevious: found.hash !== hash, nowMs: clock.nowMs() })
    onUse(found.id)
    return { caller, pipelineConfig: found.pipelineConfig }
  }
  return function authenticateKey(key) {
    if (!isWellFormedKey(key)) throw malformed()
    const hash = hashKey(key)
    const known = refused.get(hash)
    if (known !== undefined && known.untilMs > clock.nowMs())
      throw known.caller === undefined ? unknown() : revoked(known.caller)
    const found = lookup.find(hash)
    return found instanceof Promise ? found.then((row) => accept(hash, row)) : accept(hash, found)
  }
}

/** Refusal of a key that is or was valid, so that its owner can see the refusal. */
export class KeyRefused extends GatewayError {
  readonly caller: Caller

  constructor(
    code: 'key_revoked' | 'key_expired' | 'permission_error',
    message: string,
    { caller }: { caller: Caller },
  ) {
    super(code, message)
    this.caller = caller
  }
}

/** Message for a suspended account. */
export const SUSPENDED = 'This account is suspended. Ask the operator of this gateway.'

const KEY_SUSPENDED = 'This API key is suspended. Ask the operator of this gateway or the lead of its team.'

/** Circumstances of a key's use. */
interface Use {
  readonly caller: Caller
  /** True for the secret before the key's rotation. */
  readonly isPrevious: boolean
  readonly nowMs: number
}

/** Throws `key_expired` and `permission_error`, which a change of the key or its account can end at any time. */
function assertInForce(key: KeyInUse, { caller, isPrevious, nowMs }: Use): void {
  if (key.suspendedAtMs !== null) throw new KeyRefused('permission_error', SUSPENDED, { caller })
  if (key.keySuspendedAtMs !== null) throw new KeyRefused('permission_error', KEY_SUSPENDED, { caller })
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) {
    const at = new Date(key.expiresAtMs).toISOString()
    throw new KeyRefused('key_expired', `The API key expired at ${at}. Create a new one.`, { caller })
  }
  if (isPrevious && (key.previousUntilMs ?? 0) <= nowMs)
    throw new KeyRefused('key_expired', 'The API key was rotated and its overlap is over. Use its new secret.', {
      caller,
    })
}

function malformed(): GatewayError {
  return new GatewayError(
    'authentication_error',
    'The API key is malformed: expected `…_live_` and 38 letters and digits, as shown when it was created. A provider’s own key goes into `x-provider-key`.',
  )
}

function unknown(): GatewayError {
  return new GatewayError('authentication_error', 'The API key is unknown.')
}

/** Creates the refusal of a revoked key. Its own code, since a formerly valid key is no guess and does not count as one against its address. */
function revoked(caller: Caller): KeyRefused {
  return new KeyRefused('key_revoked', 'The API key was revoked.', { caller })
}
