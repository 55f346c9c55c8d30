import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../core/exchange.ts'
import type { PresentedCredential } from '../core/ports.ts'
import { presentedCredential } from './credential.ts'

/** Who asks, and with which credential. */
export interface Authenticated {
  readonly caller: Caller
  readonly credential: PresentedCredential
}

/** Finds out who sends a request. Throws `authentication_error`. */
export type Authenticate = (headers: NodeJS.Dict<string | string[]>) => Authenticated

const MOST_CALLERS_KEPT = 10_000

/** Local mode: any credential is accepted, and each distinct one is a scope of its own. */
export function createLocalAuthenticate(): Authenticate {
  const callers = new LRUCache<string, Caller>({ max: MOST_CALLERS_KEPT })
  return (headers) => {
    const credential = presentedCredential(headers)
    const known = callers.get(credential.secret)
    if (known !== undefined) return { caller: known, credential }
    const caller: Caller = { kind: 'local', scope: `local:${hash('sha256', credential.secret, 'base64url')}` }
    callers.set(credential.secret, caller)
    return { caller, credential }
  }
}
