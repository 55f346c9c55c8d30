import { createAuthenticateKey } from '../accounts/keys/authenticate.ts'
import { createKeyHash } from '../accounts/keys/key-hash.ts'
import { Keys, type KeysOptions } from '../accounts/keys/keys.ts'
import { LastUsed } from '../accounts/keys/last-used.ts'
import { ManagedKeys } from '../accounts/keys/managed-keys.ts'
import { People } from '../accounts/people/people.ts'
import { Tags } from '../accounts/people/tags.ts'
import { Teams } from '../accounts/people/teams.ts'
import { createAnyVerifier } from '../accounts/sessions/own.ts'
import type { VerifySession } from '../accounts/sessions/session.ts'
import type { SessionOptions } from '../accounts/sessions/verify.ts'
import { ConfigError } from '../config/config-error.ts'
import { assertReachMeant } from '../config/reach.ts'
import type { Config } from '../config/schema.ts'
import type { Disposal } from '../core/disposal.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import type { PeopleStore } from '../core/ports/people.ts'
import { type Authenticate, createCloudAuthenticate, createLocalAuthenticate } from '../http/authentication.ts'
import type { Intakes } from '../http/body-intake.ts'
import { createCloudViewer, operatorClaim } from '../http/dashboard/viewer.ts'
import type { RequestLimits } from '../http/rate-limit.ts'
import { createRefusalAudit } from '../http/refusal-audit.ts'
import type { KeyRouteParts } from '../http/routes/keys.ts'
import { createSessionReader } from '../http/session.ts'
import type { SignInParts } from '../http/sign-in/options.ts'
import { openKeyLookup } from '../stores/sql/accounts/key-lookup.ts'
import { createKeyStore } from '../stores/sql/accounts/key-store.ts'
import { createPeopleStore } from '../stores/sql/accounts/people-store.ts'
import type { SqlStore } from '../stores/sql/store.ts'
import { type Opened, openParts } from './open-parts.ts'
import { assertSignInComplete, openSignIn } from './sign-in.ts'

/** Accounts of cloud mode, and the authentication of callers in either mode. */
export interface Accounts {
  readonly authenticate: Authenticate
  /** For the routes of accounts; unset in local mode. */
  readonly routes: KeyRouteParts | undefined
  /** Verifies sessions. Unset in local mode. */
  readonly verify: VerifySession | undefined
  /** Sign-in by OpenID Connect; unset where it is not configured. */
  readonly signIn: SignInParts | undefined
  /** People and teams; unset in local mode. */
  readonly people: PeopleStore | undefined
}

/** Input of `openAccounts`. */
export interface AccountsOptions {
  readonly config: Config
  readonly database: SqlStore
  /** Rows of requests; `undefined` when telemetry is off. */
  readonly telemetry: Pick<SqlStore, 'run'> | undefined
  readonly limits: RequestLimits
  readonly intakes: Pick<Intakes, 'callers'>
  readonly assertPipeline: KeysOptions['assertPipeline']
  readonly clock: Clock
  readonly log: Log
}

/** Opens the accounts of cloud mode; in local mode every credential is accepted. */
export function openAccounts(options: AccountsOptions): Promise<Opened<Accounts>> {
  if (options.config.mode === 'cloud') return openParts(options, (disposal) => openCloudAccounts(options, disposal))
  return openParts(options, () => ({
    authenticate: createLocalAuthenticate(),
    routes: undefined,
    verify: undefined,
    signIn: undefined,
    people: undefined,
  }))
}

async function openCloudAccounts(options: AccountsOptions, disposal: Disposal): Promise<Accounts> {
  const { config, database, telemetry, limits, intakes, assertPipeline, clock, log } = options
  warnOfUnpinned(config, log)
  const signIn = await openSignIn(options, disposal)
  const verify = await createVerifier(options, signIn)
  const lookup = disposal.use(
    'key lookup',
    openKeyLookup({ databaseUrl: config.database_url, dataDir: config.data_dir, store: database }),
  )
  const keyStore = createKeyStore(database)
  const lastUsed = disposal.use('last use of keys', new LastUsed({ store: keyStore, clock, log }))
  const hashKey = createKeyHash(config.keys.pepper)
  const authenticateKey = createAuthenticateKey({ lookup, hashKey, clock, onUse: (id) => lastUsed.note(id) })
  const { label, per_account: most } = config.keys
  const session = createSessionReader({
    verify,
    limits,
    intake: intakes.callers,
    openAccount: (id) => database.run('account.open', { id }),
    isOperator: operatorClaim(config.sessions.operator_claim),
  })
  const changes = { store: keyStore, hashKey, label, most, assertPipeline }
  const store = createPeopleStore({ accounts: database, telemetry })
  const people = { store, lastUsed, clock }
  return {
    authenticate: createCloudAuthenticate(authenticateKey),
    routes: {
      session,
      auditRefusals: createRefusalAudit({ append: (note) => database.run('audit.append', note), clock, log }),
      keys: new Keys({ ...changes, lastUsed }),
      admin: {
        viewer: createCloudViewer({
          session,
          keysOf: (accountId, leads) => database.run('keys.in-reach', { accountId, leads }),
        }),
        people: new People(people),
        teams: new Teams(people),
        tags: new Tags(people),
        keys: new ManagedKeys({ ...changes, people: store, lastUsed, clock }),
        audit: (page) => store.audit(page),
      },
    },
    verify,
    signIn,
    people: store,
  }
}

async function createVerifier(
  { config, clock }: AccountsOptions,
  signIn: SignInParts | undefined,
): Promise<VerifySession> {
  const tokens = sessionOptions(config)
  // Loaded only for sessions: local mode does not need the verifier.
  const { createSessionVerifier } = await import('../accounts/sessions/verify.ts')
  const verifyToken = tokens && createSessionVerifier({ ...tokens, clock })
  if (signIn !== undefined) return createAnyVerifier(signIn.store, verifyToken)
  // Safe: cloud mode has one or the other, see `assertModeComplete`.
  return verifyToken as VerifySession
}

/**
 * Warns about an unchecked audience. An issuer that serves this gateway alone needs no check, which cannot be detected
 * here.
 */
function warnOfUnpinned({ sessions: { jwks_url: jwksUrl, audience, azp } }: Config, log: Log): void {
  if (jwksUrl === undefined || audience !== undefined || azp.length > 0) return
  log.warn({ set: 'SVC_SESSION_AUDIENCE or SVC_SESSION_AZP' }, 'sessions.taken-for-any-audience')
}

/**
 * Throws `ConfigError` for cloud mode without a way to verify users, and for local mode that other machines can reach
 * unless the configuration allows it.
 */
export function assertModeComplete(config: Config): void {
  assertReachMeant(config)
  if (config.mode !== 'cloud') return
  assertSignInComplete(config)
  if (sessionOptions(config) !== undefined || config.sign_in.issuer !== undefined) return
  throw new ConfigError(NO_USERS)
}

/** Returns the verification of an issuer's tokens; `undefined` where none are accepted. Throws `ConfigError` for two ways. */
function sessionOptions({ sessions }: Config): Omit<SessionOptions, 'clock'> | undefined {
  const { issuer, audience, azp, user_claim: userClaim, required_claims: requiredClaims } = sessions
  const keys = sessionKeys(sessions)
  return keys && { keys, issuer, audience, azp, userClaim, requiredClaims }
}

function sessionKeys({ jwks_url: jwksUrl, secret }: Config['sessions']): SessionOptions['keys'] | undefined {
  if (jwksUrl !== undefined && secret !== undefined)
    throw new ConfigError('`sessions`: expected SVC_SESSION_JWKS_URL or SVC_SESSION_SECRET, got both. Set one of them.')
  if (jwksUrl !== undefined) return { jwksUrl }
  return secret === undefined ? undefined : { secret }
}

const NO_USERS =
  '`mode`: `cloud` needs a way to verify its users. Set SVC_SIGN_IN_ISSUER to sign them in with your identity provider, SVC_SESSION_JWKS_URL to the key set of the issuer of their session tokens, or, for development, SVC_SESSION_SECRET to a secret of at least 32 bytes (`openssl rand -base64 48`).'
