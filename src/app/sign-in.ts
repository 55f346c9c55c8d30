import { createKeyHash } from '../accounts/keys/key-hash.ts'
import { Devices } from '../accounts/sign-in/devices.ts'
import { offerFirstOperator } from '../accounts/sign-in/first-operator.ts'
import { IdentityProvider } from '../accounts/sign-in/provider.ts'
import { SignIn } from '../accounts/sign-in/sign-in.ts'
import { ConfigError } from '../config/config-error.ts'
import { listenHost } from '../config/reach.ts'
import type { Config } from '../config/schema.ts'
import type { Disposal } from '../core/disposal.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import { isLoopback } from '../core/system/listen-address.ts'
import type { SignInParts } from '../http/sign-in/options.ts'
import { openLimiter } from '../stores/limits/open.ts'
import { createSignInStore } from '../stores/sql/sign-in/store.ts'
import type { SqlStore } from '../stores/sql/store.ts'

/** Input of `openSignIn`. */
export interface SignInOptions {
  readonly config: Config
  readonly database: SqlStore
  readonly clock: Clock
  readonly log: Log
}

const MINUTE_MS = 60_000
/** Limit of the limiter; each route has a limit of its own. */
const MOST_A_MINUTE = 600

/** Opens sign-in by OpenID Connect; `undefined` where it is not configured. Its library is loaded at the first sign-in. */
export async function openSignIn(
  { config, database, clock, log }: SignInOptions,
  disposal: Disposal,
): Promise<SignInParts | undefined> {
  const { sign_in: options, sessions, server, limits, keys, redis_url: redisUrl } = config
  const { issuer, client_id: clientId } = options
  if (issuer === undefined || clientId === undefined) return undefined
  const store = createSignInStore(database)
  const { client_secret: clientSecret, scopes } = options
  const provider = new IdentityProvider({ issuer, clientId, clientSecret, scopes, clock, log })
  const rules = {
    userClaim: sessions.user_claim,
    groupsClaim: options.groups_claim,
    teams: options.teams,
    roles: options.roles,
    emailDomains: options.email_domains,
  }
  const browser = { lifetimeMs: options.session_lifetime, idleMs: options.session_idle }
  const command = { lifetimeMs: options.command_lifetime, idleMs: options.command_idle }
  const rule = { limit: MOST_A_MINUTE, windowMs: MINUTE_MS }
  return {
    name: options.name,
    signIn: new SignIn({ provider, store, rules, bounds: browser }),
    devices: new Devices({ store, bounds: command, label: keys.label, hashKey: createKeyHash(keys.pepper) }),
    store,
    limiter: disposal.use('sign-in limiter', await openLimiter(rule, { redisUrl, namespace: 'sign-in', log })),
    countsAddresses: limits.failures_per_minute !== 0,
    publicUrl: server.public_url?.replace(/\/+$/, ''),
    host: listenHost(config),
    clock,
  }
}

/**
 * Returns the secret of a one-time link that makes the first operator; `undefined` without a sign-in, where a claim or a
 * group makes operators, and where there is one.
 */
export async function offerLink(
  { sessions, sign_in: { roles } }: Config,
  signIn: SignInParts | undefined,
): Promise<string | undefined> {
  const comesFromProvider = sessions.operator_claim !== undefined || Object.values(roles).includes('operator')
  if (signIn === undefined || comesFromProvider) return undefined
  return offerFirstOperator(signIn.store)
}

/** Throws `ConfigError` for a sign-in that cannot work, or that would mix the users of two issuers. */
export function assertSignInComplete(config: Config): void {
  const { sign_in: options, sessions, server, dashboard } = config
  const { issuer, client_id: clientId } = options
  if (issuer === undefined) return
  if (clientId === undefined) throw new ConfigError('`sign_in.client_id`: sign-in needs it. Set SVC_SIGN_IN_CLIENT_ID.')
  if (dashboard.access === 'off')
    throw new ConfigError('`sign_in`: users sign in on the dashboard, which SVC_DASHBOARD=off switches off.')
  if (server.public_url === undefined && !isLoopback(listenHost(config)))
    throw new ConfigError('`server.public_url`: sign-in needs the address that browsers use. Set SVC_PUBLIC_URL.')
  if (server.public_url !== undefined && !isSafeAddress(server.public_url))
    throw new ConfigError('`server.public_url`: sign-in needs https; http is for an address of this machine.')
  const acceptsTokens = sessions.issuer !== undefined || sessions.jwks_url !== undefined
  if (acceptsTokens && sessions.issuer !== issuer)
    throw new ConfigError(
      '`sessions.issuer`: expected that of `sign_in.issuer`. Users of two issuers could have the same id, and so the same account.',
    )
}

function isSafeAddress(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || isLoopback(hostname)
}
