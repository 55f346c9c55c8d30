import { GatewayError } from '../../core/errors.ts'
import type { SessionBounds, SignInOutcome, SignInStore } from '../../core/ports/sign-in.ts'
import { type PersonRules, personOf } from './person.ts'
import { type IdentityProvider, SignInError } from './provider.ts'
import { createAuditId, createSecret, createSessionId, createSessionToken, hashOf } from './secrets.ts'

/**
 * DESIGN — a sign-in
 *
 *   start ─ state, nonce, verifier stored; the browser gets a secret in a cookie ─▶ provider ─▶ callback
 *   callback ─ attempt taken, once, by `state` and the cookie ─ code exchanged ─ person stored, new session ─▶ page
 *
 * An answer is worth nothing without the cookie of the browser that began (login CSRF), is used once (replay), and always
 * opens a new session, ending the one that the browser had (fixation). The browser never holds state, nonce's check or
 * verifier.
 */
export interface SignInOptions {
  readonly provider: IdentityProvider
  readonly store: SignInStore
  readonly rules: PersonRules
  /** Lifetimes of a browser's session. */
  readonly bounds: SessionBounds
}

/** An answer of the provider in a browser. */
export interface Answer {
  /** Redirect address with the query that arrived. */
  readonly url: URL
  /** Secret of the browser that began the sign-in. */
  readonly browserSecret: string | undefined
  /** Secret that binds a first operator's link to the browser. */
  readonly linkSecret: string | undefined
  /** Session that the browser had. */
  readonly previousToken: string | undefined
  /** Name of the browser, as it introduces itself. */
  readonly client: string
}

/** An opened session. */
export interface OpenedSession {
  readonly token: string
  readonly lifetimeMs: number
  readonly returnPath: string
  readonly outcome: SignInOutcome
}

/** Signs users in through the identity provider. */
export class SignIn {
  readonly #options: SignInOptions

  constructor(options: SignInOptions) {
    this.#options = options
  }

  /** Begins a sign-in. Returns the provider’s address and the secret for the browser. Throws `SignInError`, `service_unavailable`. */
  async begin(returnPath: string, redirectUri: string): Promise<{ url: URL; browserSecret: string }> {
    const { provider, store } = this.#options
    const binding = { state: createSecret(), nonce: createSecret(), verifier: createSecret() }
    const url = await provider.authorizationUrl(binding, redirectUri)
    const browserSecret = createSecret()
    const { state, nonce, verifier } = binding
    const attempt = { stateHash: hashOf(state), browserHash: hashOf(browserSecret), nonce, verifier, returnPath }
    if (await store.begin(attempt)) return { url, browserSecret }
    throw new GatewayError('service_unavailable', 'Too many sign-ins have begun. Try again in some minutes.')
  }

  /** Completes a sign-in. Throws `SignInError`, `permission_error`, `service_unavailable`. */
  async complete({ url, browserSecret, linkSecret, previousToken, client }: Answer): Promise<OpenedSession> {
    const { provider, store, rules, bounds } = this.#options
    const state = url.searchParams.get('state')
    if (state === null || browserSecret === undefined) throw new SignInError('expired')
    const attempt = await store.take({ stateHash: hashOf(state), browserHash: hashOf(browserSecret) })
    if (attempt === undefined) throw new SignInError('expired')
    const { nonce, verifier, returnPath } = attempt
    const { claims, idToken } = await provider.authenticate(url, { state, nonce, verifier })
    const person = personOf(claims, rules)
    const [token, id] = [createSessionToken(), createSessionId()]
    const { accountId } = person
    const outcome = await store.complete({
      ...person,
      issuer: provider.issuer,
      session: { id, hash: hashOf(token), client, idToken, ...bounds },
      previousHash: previousToken === undefined ? null : hashOf(previousToken),
      linkHash: linkSecret === undefined ? null : hashOf(linkSecret),
      audit: {
        id: createAuditId(),
        accountId,
        actor: `user:${accountId}`,
        action: 'session.opened',
        subject: id,
        details: { kind: 'browser' },
      },
    })
    return { token, lifetimeMs: bounds.lifetimeMs, returnPath, outcome }
  }

  /** Ends a session; returns the provider’s logout address, if it has one. */
  async end(token: string, returnTo: string): Promise<URL | undefined> {
    const { provider, store } = this.#options
    const idToken = await store.end({ hash: hashOf(token), auditId: createAuditId() })
    return idToken === null || idToken === '' ? undefined : provider.logoutUrl(idToken, returnTo)
  }
}
