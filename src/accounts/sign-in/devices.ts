import { GatewayError } from '../../core/errors.ts'
import type { DeviceOutcome, PendingDevice, SessionBounds, SessionKey, SignInStore } from '../../core/ports/sign-in.ts'
import { createKey, createKeyId, prefixOf } from '../keys/key-format.ts'
import type { HashKey } from '../keys/key-hash.ts'
import {
  createAuditId,
  createSecret,
  createSessionId,
  createSessionToken,
  createUserCode,
  hashOf,
  lettersOf,
} from './secrets.ts'

/**
 * DESIGN — sessions of command lines (RFC 8628)
 *
 *   command ─ request ─▶ device code (secret, 256 bits) and user code (8 letters) ─▶ polls with the device code
 *   user ─ types the code on a page, sees which command asks and from where ─ approves ─▶ next poll opens a session, once
 *
 * A request lives ten minutes. Its approver must be signed in and has few guesses a minute.
 */
export interface DevicesOptions {
  readonly store: SignInStore
  /** Lifetimes of a command line’s session. */
  readonly bounds: SessionBounds
  /** Prefix of new keys. */
  readonly label: string
  readonly hashKey: HashKey
}

/** Longest lifetime of a session's key between two refreshes. */
const KEY_MS = 60 * 60_000
/** Lifetime of a request. */
export const DEVICE_TTL_MS = 10 * 60_000
/** Time between two polls. */
export const POLL_SECONDS = 5
const MOST_TRIES = 3

/** A request that has begun. */
export interface DeviceRequest {
  readonly deviceCode: string
  readonly userCode: string
}

/** Opens sessions of command lines that signed-in users approve. */
export class Devices {
  readonly #options: DevicesOptions

  constructor(options: DevicesOptions) {
    this.#options = options
  }

  /** Begins a request. Throws `service_unavailable` when too many are pending. */
  async begin(client: string, address: string): Promise<DeviceRequest> {
    // A code that is in use already is drawn again.
    for (let i = 0; i < MOST_TRIES; i++) {
      const [deviceCode, userCode] = [createSecret(), createUserCode()]
      const userHash = hashOf(lettersOf(userCode) ?? '')
      const device = { deviceHash: hashOf(deviceCode), userHash, client, address, ttlMs: DEVICE_TTL_MS }
      if (await this.#options.store.beginDevice(device)) return { deviceCode, userCode }
    }
    throw new GatewayError('service_unavailable', 'Too many command lines are signing in. Try again in some minutes.')
  }

  /** Returns a pending request by its typed code. Throws `not_found`. */
  async find(typed: string): Promise<PendingDevice> {
    const letters = lettersOf(typed)
    const found = letters === undefined ? undefined : await this.#options.store.findDevice(hashOf(letters))
    if (found === undefined) throw new GatewayError('not_found', UNKNOWN)
    return found
  }

  /** Approves or denies a pending request. Throws `not_found`. */
  async decide(typed: string, accountId: string, isApproved: boolean): Promise<void> {
    const letters = lettersOf(typed)
    const audit = {
      id: createAuditId(),
      accountId,
      actor: `user:${accountId}`,
      action: isApproved ? 'device.approved' : 'device.denied',
      subject: accountId,
    }
    const decision = { userHash: hashOf(letters ?? ''), accountId, isApproved, audit }
    if (letters === undefined || !(await this.#options.store.decideDevice(decision)))
      throw new GatewayError('not_found', UNKNOWN)
  }

  /** Answers a poll; an approved request opens a session. With `hasKey` the client gets a key, and the session to refresh it. */
  async redeem(deviceCode: string, { hasKey }: { hasKey: boolean }): Promise<Redeemed> {
    const { store, bounds } = this.#options
    const token = createSessionToken()
    const session = { id: createSessionId(), hash: hashOf(token), client: '', idToken: null, ...bounds }
    const made = hasKey ? this.#createKey() : undefined
    const deviceHash = hashOf(deviceCode)
    const key = made?.key ?? null
    const outcome = await store.redeemDevice({ deviceHash, session, key, auditId: createAuditId() })
    if (outcome.kind !== 'approved') return { kind: outcome.kind }
    if (made === undefined) return { kind: 'approved', token, lifetimeMs: bounds.lifetimeMs }
    return { kind: 'approved', token: made.secret, lifetimeMs: made.key.lifetimeMs, refreshToken: token }
  }

  /** Returns a new secret of a session's key; `undefined` for a session that has ended. */
  async refresh(token: string): Promise<{ readonly token: string; readonly lifetimeMs: number } | undefined> {
    const { secret, key } = this.#createKey()
    const lifetimeMs = await this.#options.store.refreshKey({ sessionHash: hashOf(token), key })
    return lifetimeMs === undefined ? undefined : { token: secret, lifetimeMs }
  }

  #createKey(): { secret: string; key: SessionKey } {
    const { label, hashKey, bounds } = this.#options
    const lifetimeMs = Math.min(KEY_MS, bounds.lifetimeMs, bounds.idleMs)
    const secret = createKey(label)
    const hash = hashKey(secret)
    const rest = { prefix: prefixOf(secret), lifetimeMs, auditId: createAuditId() }
    return { secret, key: { id: createKeyId(), hash, ...rest } }
  }
}

/** Answer to a poll. */
export type Redeemed =
  | { readonly kind: Exclude<DeviceOutcome['kind'], 'approved'> }
  | {
      readonly kind: 'approved'
      readonly token: string
      readonly lifetimeMs: number
      readonly refreshToken?: string
    }

const UNKNOWN = 'There is no request with this code. It may have expired: start again on the command line.'
