import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'

/** Users of the identity provider, whose claims a test may change. */
export type Users = Record<string, Record<string, unknown>>

/** An OpenID Connect provider in the test's thread: `oidc-provider`, with a login that takes the user from a header. */
export interface IdentityProvider {
  readonly issuer: string
  /** Registers the gateway, once its address is known. */
  register(redirectUri: string, returnTo: string): Promise<void>
  close(): Promise<void>
}

/** Registration of the gateway. */
export const CLIENT = { id: 'turnpike', secret: 'the-secret-of-the-gateway-at-its-provider' }
/** Header that names the user who signs in at the provider. */
export const USER_HEADER = 'x-test-user'

/** Starts the provider on loopback; `users` by their `sub`. */
export async function startIdentityProvider(users: Users): Promise<IdentityProvider> {
  let provider: Provider | undefined
  const server = createServer((request, response) => {
    if (provider === undefined) return void response.writeHead(503).end()
    if (!request.url?.startsWith('/interaction/')) return provider.callback()(request, response)
    const accountId = String(request.headers[USER_HEADER])
    const result = accountId in users ? { login: { accountId } } : { error: 'access_denied' }
    void provider.interactionFinished(request, response, result)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // safe: it listens on a port
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'test', alg: 'ES256', use: 'sig' }
  return {
    issuer,
    async register(redirectUri, returnTo) {
      provider = new Provider(issuer, {
        jwks: { keys: [key] },
        cookies: { keys: ['a key of tests'] },
        clients: [
          {
            client_id: CLIENT.id,
            client_secret: CLIENT.secret,
            redirect_uris: [redirectUri],
            post_logout_redirect_uris: [returnTo],
            id_token_signed_response_alg: 'ES256',
          },
        ],
        pkce: { required: () => true },
        features: { devInteractions: { enabled: false } },
        claims: { openid: ['sub', 'groups'], profile: ['name'], email: ['email', 'email_verified'] },
        interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
        findAccount: (_: unknown, accountId: string) => ({
          accountId,
          claims: () => ({ sub: accountId, ...users[accountId] }),
        }),
        async loadExistingGrant({ oidc }: { oidc: { session: { accountId: string }; client: { clientId: string } } }) {
          if (provider === undefined) return undefined
          const { accountId } = oidc.session
          const grant = new provider.Grant({ accountId, clientId: oidc.client.clientId })
          grant.addOIDCScope('openid profile email')
          await grant.save()
          return grant
        },
      })
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
