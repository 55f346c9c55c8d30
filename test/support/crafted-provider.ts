import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { CookieBrowser } from './cookie-browser.ts'

/** Lies of a provider about one sign-in; what is left out is as it should be. */
export interface Lies {
  /** Claims of the ID token over the right ones; `null` leaves one out. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Signs with: another key, the client’s secret (HS256), or nothing. */
  readonly signature?: 'foreign' | 'secret' | 'none'
  readonly userInfo?: Readonly<Record<string, unknown>>
  /** Parameters of the answer over the right ones; `null` leaves one out. */
  readonly answer?: Readonly<Record<string, string | null>>
  readonly token?: Readonly<Record<string, unknown>>
}

/** A provider that replies as the test has set it, by the code of each sign-in. */
export interface CraftedProvider {
  readonly issuer: string
  /** Returns the address of the answer to a sign-in that the browser begins. */
  answer(browser: CookieBrowser, gateway: string, user: string, lies?: Lies): Promise<string>
  close(): Promise<void>
}

const CLIENT_ID = 'turnpike'
const SECRET = 'a-secret-that-the-gateway-and-its-provider-share'
const HOUR_SECONDS = 3600

export async function startCraftedProvider(): Promise<CraftedProvider> {
  const [own, foreign] = await Promise.all([generateKeyPair('RS256', { extractable: true }), generateKeyPair('RS256')])
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256', use: 'sig' }
  const replies = new Map<string, { token: object; userInfo: object }>()
  let codes = 0
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      const { pathname } = new URL(request.url ?? '/', issuer)
      const bearer = String(request.headers.authorization).replace('Bearer ', '')
      const code = new URLSearchParams(body).get('code') ?? bearer
      const documents: Readonly<Record<string, unknown>> = {
        '/.well-known/openid-configuration': metadata,
        '/jwks': { keys: [jwk] },
        '/token': replies.get(code)?.token,
        '/userinfo': replies.get(code)?.userInfo,
      }
      const document = documents[pathname]
      response.writeHead(document === undefined ? 400 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(document ?? { error: 'invalid_grant' }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // safe: it listens on a port
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    authorization_response_iss_parameter_supported: true,
  }

  const idToken = (claims: Record<string, unknown>, signature: Lies['signature']) => {
    if (signature === 'none') return `${part({ alg: 'none' })}.${part(claims)}.`
    if (signature === 'secret')
      return new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(SECRET))
    const { privateKey } = signature === 'foreign' ? foreign : own
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'own' }).sign(privateKey)
  }

  return {
    issuer,
    async answer(browser, gateway, user, { claims = {}, signature, userInfo = {}, answer = {}, token = {} } = {}) {
      const asked = new URL(String((await browser.send(`${gateway}/sign-in`)).headers.location)).searchParams
      const nowSeconds = Math.floor(Date.now() / 1000)
      const times = { iat: nowSeconds, exp: nowSeconds + HOUR_SECONDS }
      const right = { iss: issuer, sub: user, aud: CLIENT_ID, nonce: asked.get('nonce'), ...times }
      const code = `code-${++codes}`
      replies.set(code, {
        token: {
          access_token: code,
          token_type: 'Bearer',
          id_token: await idToken(withoutNulls({ ...right, ...claims }), signature),
          ...token,
        },
        userInfo: { sub: user, ...userInfo },
      })
      const query = withoutNulls({ code, state: asked.get('state'), iss: issuer, ...answer })
      return `${gateway}/sign-in/callback?${new URLSearchParams(query as Record<string, string>)}`
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** Settings of a gateway in front of a crafted provider. */
export function craftedSignIn({ issuer }: Pick<CraftedProvider, 'issuer'>) {
  return { issuer, client_id: CLIENT_ID, client_secret: SECRET }
}

function part(json: object): string {
  return Buffer.from(JSON.stringify(json)).toString('base64url')
}

function withoutNulls(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}
