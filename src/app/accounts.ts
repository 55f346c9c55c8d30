import { createAuthenticateKey } from '../accounts/keys/authenticate.ts'
import { createKeyHash } from '../accounts/keys/key-hash.ts'
import { Keys, type KeysOptions } from '../accounts/keys/keys.ts'
import { LastUsed } from '../accounts/keys/last-used.ts'
import type { VerifySession } from '../accounts/sessions/session.ts'
import type { SessionOptions } from '../accounts/sessions/verify.ts'
import { ConfigError } from '../config/config-error.ts'
import { assertReachMeant } from '../config/reach.ts'
import type { Config } from '../config/schema.ts'
import type { Disposal } from '../core/disposal.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import { type Authenticate, createCloudAuthenticate, createLocalAuthenticate } from '../http/authentication.ts'
import type { RequestLimits } from '../http/rate-limit.ts'
import type { KeyRouteParts } from '../http/routes/keys.ts'
import { createSessionReader } from '../http/session.ts'
import { openKeyLookup } from '../stores/sql/accounts/key-lookup.ts'
import { createKeyStore } from '../stores/sql/accounts/key-store.ts'
import type { SqlStore } from '../stores/sql/store.ts'

/** Who callers are. */
export interface Identity {
  readonly authenticate: Authenticate
  /** The routes of accounts; none in local mode. */
  readonly accounts: KeyRouteParts | undefined
  /** Of session tokens; none in local mode. */
  readonly verify: VerifySession | undefined
}

/** What the identity of callers is found out with. */
export interface IdentityOptions {
  readonly config: Config
  readonly store: SqlStore
  readonly limits: RequestLimits
  readonly assertPipeline: KeysOptions['assertPipeline']
  readonly clock: Clock
  readonly log: Log
  readonly disposal: Disposal
}

/** Opens the accounts of cloud mode, or lets everybody in, in local mode. */
export async function openIdentity(options: IdentityOptions): Promise<Identity> {
  const { config, store, limits, assertPipeline, clock, log, disposal } = options
  if (config.mode === 'local')
    return { authenticate: createLocalAuthenticate(), accounts: undefined, verify: undefined }
  warnOfUnpinned(config, log)
  // Only where there are sessions: local mode need not load the verifier.
  const { createSessionVerifier } = await import('../accounts/sessions/verify.ts')
  const verify = createSessionVerifier({ ...sessionOptions(config), clock })
  const lookup = openKeyLookup({ databaseUrl: config.database_url, dataDir: config.data_dir, store })
  disposal.add('key lookup', () => lookup.close())
  const keyStore = createKeyStore(store)
  const lastUsed = new LastUsed({ store: keyStore, clock, log })
  disposal.add('last use of keys', () => lastUsed.close())
  const hashKey = createKeyHash(config.keys.pepper)
  const authenticateKey = createAuthenticateKey({ lookup, hashKey, clock, onUse: (id) => lastUsed.note(id) })
  const { label, per_account: most } = config.keys
  return {
    authenticate: createCloudAuthenticate(authenticateKey),
    accounts: {
      session: createSessionReader({ verify, limits, openAccount: (id) => store.run('account.open', { id }) }),
      keys: new Keys({ store: keyStore, hashKey, lastUsed, label, most, assertPipeline }),
    },
    verify,
  }
}

/** Whoever issues tokens for one gateway alone need pin nothing; nobody can tell from here. */
function warnOfUnpinned({ sessions: { jwks_url: jwksUrl, audience, azp } }: Config, log: Log): void {
  if (jwksUrl === undefined || audience !== undefined || azp.length > 0) return
  log.warn({ set: 'SVC_SESSION_AUDIENCE or SVC_SESSION_AZP' }, 'sessions.taken-for-any-audience')
}

/**
 * Throws `ConfigError` for cloud mode when nothing could verify its users, and for local mode that others reach when the
 * configuration does not allow it.
 */
export function assertModeComplete(config: Config): void {
  assertReachMeant(config)
  if (config.mode === 'cloud') sessionOptions(config)
}

function sessionOptions({ sessions }: Config): Omit<SessionOptions, 'clock'> {
  const { issuer, audience, azp, user_claim: userClaim, required_claims: requiredClaims } = sessions
  return { keys: sessionKeys(sessions), issuer, audience, azp, userClaim, requiredClaims }
}

function sessionKeys({ jwks_url: jwksUrl, secret }: Config['sessions']): SessionOptions['keys'] {
  if (jwksUrl !== undefined && secret !== undefined)
    throw new ConfigError(
      '`sessions`: expected SVC_SESSION_JWKS_URL or SVC_SESSION_SECRET, got both. A verifier has one kind of key.',
    )
  if (jwksUrl !== undefined) return { jwksUrl }
  if (secret !== undefined) return { secret }
  throw new ConfigError(
    '`mode`: `cloud` needs to know who its users are. Set SVC_SESSION_JWKS_URL to the key set of your identity provider, or, for development, SVC_SESSION_SECRET to a secret of at least 32 bytes (`openssl rand -base64 48`).',
  )
}
