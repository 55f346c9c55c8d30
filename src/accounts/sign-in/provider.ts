import type { Configuration, ServerMetadata } from 'openid-client'
import { errorCodeOf, GatewayError, messageOf } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Log } from '../../core/ports/log.ts'
import type { Claims } from './person.ts'

/**
 * DESIGN — the identity provider
 *
 * The authorization code grant with PKCE of `openid-client`, which checks the answer's `state` and `iss` (RFC 9207), the ID
 * token's signature, issuer, audience, nonce and times, and that the user info has the ID token's subject. The library is
 * loaded at the first sign-in. Its discovery is repeated every hour; a provider that is down fails sign-ins alone.
 */
export interface ProviderOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | undefined
  readonly scopes: readonly string[]
  readonly clock: Clock
  readonly log: Log
}

/** Values that bind an answer to its request. */
export interface Binding {
  readonly state: string
  readonly nonce: string
  /** Code verifier of PKCE. */
  readonly verifier: string
}

/** An authenticated user. */
export interface Authentication {
  /** Claims of the user info, and over them those of the ID token. */
  readonly claims: Claims
  readonly idToken: string | null
}

/** Reason of a sign-in that failed, in words of the sign-in page. */
export type SignInFailure = 'denied' | 'expired' | 'failed' | 'unavailable'

/** Failure of a sign-in at the provider. */
export class SignInError extends Error {
  readonly reason: SignInFailure

  constructor(reason: SignInFailure, options?: ErrorOptions) {
    super(`Sign-in: ${reason}`, options)
    this.name = 'SignInError'
    this.reason = reason
  }
}

const PATIENCE_SECONDS = 5
const FRESH_MS = 60 * 60_000
/** Longest ID token that is kept for the provider's logout, in characters. */
const LONGEST_ID_TOKEN = 16_384

type Library = typeof import('openid-client')

/** The configured identity provider. Every method throws `SignInError`. */
export class IdentityProvider {
  readonly #options: ProviderOptions
  #found: { readonly config: Promise<Configuration>; readonly untilMs: number } | undefined

  constructor(options: ProviderOptions) {
    this.#options = options
  }

  get issuer(): string {
    return this.#options.issuer
  }

  /** Returns the provider's address to send a browser to. */
  async authorizationUrl({ state, nonce, verifier }: Binding, redirectUri: string): Promise<URL> {
    const library = await load()
    const config = await this.#configuration()
    return library.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: [...new Set(['openid', ...this.#options.scopes])].join(' '),
      state,
      nonce,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
  }

  /** Exchanges the code of an answer, which is the redirect address with the query that arrived, for the user's claims. */
  async authenticate(answer: URL, { state, nonce, verifier }: Binding): Promise<Authentication> {
    const library = await load()
    const config = await this.#configuration()
    try {
      const tokens = await library.authorizationCodeGrant(config, answer, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const own = tokens.claims()
      if (own === undefined) throw new SignInError('failed')
      const hasUserInfo = config.serverMetadata().userinfo_endpoint !== undefined
      const more = hasUserInfo ? await library.fetchUserInfo(config, tokens.access_token, own.sub) : {}
      const idToken = tokens.id_token ?? ''
      return { claims: { ...more, ...own }, idToken: idToken.length > LONGEST_ID_TOKEN ? null : idToken }
    } catch (error) {
      throw this.#failure(error, library)
    }
  }

  /** Returns the provider's logout address; `undefined` when it has none, or cannot be reached. */
  async logoutUrl(idToken: string, returnTo: string): Promise<URL | undefined> {
    const library = await load()
    try {
      const config = await this.#configuration()
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined
      return library.buildEndSessionUrl(config, { id_token_hint: idToken, post_logout_redirect_uri: returnTo })
    } catch (error) {
      if (error instanceof SignInError) return undefined
      throw error
    }
  }

  #failure(error: unknown, library: Library): SignInError {
    if (error instanceof SignInError) return error
    const isDenied = error instanceof library.AuthorizationResponseError && error.error === 'access_denied'
    // Not the error itself: its causes hold tokens and claims.
    const reason = { code: errorCodeOf(error), reason: messageOf(error) }
    if (!isDenied) this.#options.log.warn({ ...reason, issuer: this.#options.issuer }, 'sign-in.refused')
    return new SignInError(isDenied ? 'denied' : 'failed', { cause: error })
  }

  async #configuration(): Promise<Configuration> {
    const { clock, log, issuer } = this.#options
    if (this.#found === undefined || this.#found.untilMs <= clock.nowMs())
      this.#found = { config: discover(this.#options), untilMs: clock.nowMs() + FRESH_MS }
    const found = this.#found
    try {
      return await found.config
    } catch (error) {
      if (this.#found === found) this.#found = undefined
      log.error({ err: error, issuer }, 'sign-in.discovery-failed')
      throw new SignInError('unavailable', { cause: error })
    }
  }
}

function load(): Promise<Library> {
  return import('openid-client')
}

async function discover({ issuer, clientId, clientSecret }: ProviderOptions): Promise<Configuration> {
  const library = await load()
  const isPlain = issuer.startsWith('http:')
  const found = await library.discovery(new URL(issuer), clientId, undefined, library.None(), {
    timeout: PATIENCE_SECONDS,
    execute: isPlain ? [library.allowInsecureRequests] : [],
  })
  const server = found.serverMetadata()
  // The library accepts templates of issuers, with which any organisation could sign in.
  if (new URL(server.issuer).href !== new URL(issuer).href)
    throw new GatewayError('not_configured', `The issuer is \`${server.issuer}\`.`)
  const config = new library.Configuration(
    server,
    clientId,
    undefined,
    clientAuthentication(library, server, clientSecret),
  )
  config.timeout = PATIENCE_SECONDS
  if (isPlain) library.allowInsecureRequests(config)
  // Verifies signatures of ID tokens too, besides their way over TLS.
  library.enableNonRepudiationChecks(config)
  return config
}

function clientAuthentication(library: Library, server: ServerMetadata, secret: string | undefined) {
  if (secret === undefined) return library.None()
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  return methods.includes('client_secret_basic') ? library.ClientSecretBasic(secret) : library.ClientSecretPost(secret)
}
