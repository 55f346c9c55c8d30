import { createHmac } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import type { VerifySession } from '../../src/accounts/sessions/session.ts'
import { createSessionVerifier, type SessionOptions } from '../../src/accounts/sessions/verify.ts'
import { type ErrorCode, GatewayError } from '../../src/core/errors.ts'
import { type Issuer, type IssuerAlgorithm, startIssuer } from '../support/issuer.ts'
import type { JsonObject } from '../support/json.ts'

const SECRET = 'a secret that is shared by two, and no others'
const nowSeconds = () => Math.floor(Date.now() / 1000)

type Pins = Partial<Omit<SessionOptions, 'keys'>>

function verifier(keys: SessionOptions['keys'], pins: Pins = {}): VerifySession {
  return createSessionVerifier({
    keys,
    issuer: undefined,
    audience: undefined,
    azp: [],
    userClaim: 'sub',
    requiredClaims: [],
    clock: { nowMs: () => Date.now() },
    ...pins,
  })
}

async function issuerOf(t: ExecutionContext, algorithm: IssuerAlgorithm): Promise<Issuer> {
  const issuer = await startIssuer(algorithm)
  t.teardown(() => issuer.close())
  return issuer
}

/** Asserts that a token is refused, without a part of it in the message; returns the message. */
async function refused(
  t: ExecutionContext,
  verify: VerifySession,
  token: string,
  code: ErrorCode = 'authentication_error',
): Promise<string> {
  const error = await t.throwsAsync(() => verify(token), { instanceOf: GatewayError })
  t.is(error?.code, code, error?.message)
  for (const part of token.split('.')) if (part.length > 8) t.false(error?.message.includes(part))
  return error?.message ?? ''
}

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs by hand, also headers that a library refuses. */
function signedBy(secret: string, header: object, claims: object): string {
  const text = `${base64(header)}.${base64(claims)}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

interface Shape {
  readonly name: string
  readonly algorithm: IssuerAlgorithm
  readonly pins: Pins
  readonly claims: JsonObject & { readonly sub: string }
}

/** Tokens as the identity providers document them. */
const SHAPES: readonly Shape[] = [
  {
    name: 'Clerk',
    algorithm: 'RS256',
    pins: {
      issuer: 'https://clean-mayfly-62.clerk.accounts.dev',
      azp: ['https://app.example.com'],
      requiredClaims: ['sid'],
    },
    claims: {
      iss: 'https://clean-mayfly-62.clerk.accounts.dev',
      sub: 'user_2q9ZfPvsh5mG8gPrOCOVJbpdHoR',
      azp: 'https://app.example.com',
      sid: 'sess_2q9ZfOQ1',
      sts: 'active',
      v: 2,
      fva: [0, -1],
    },
  },
  {
    name: 'Auth0',
    algorithm: 'RS256',
    pins: { issuer: 'https://tenant.eu.auth0.com/', audience: 'https://gateway.example.com' },
    claims: {
      iss: 'https://tenant.eu.auth0.com/',
      sub: 'auth0|5f7c8ec7c33c6c004bbafe82',
      aud: ['https://gateway.example.com', 'https://tenant.eu.auth0.com/userinfo'],
      azp: 'my-client-id',
      scope: 'openid profile',
    },
  },
  {
    name: 'Supabase',
    algorithm: 'ES256',
    pins: { issuer: 'https://abcdefgh.supabase.co/auth/v1', audience: 'authenticated' },
    claims: {
      iss: 'https://abcdefgh.supabase.co/auth/v1',
      sub: '8ccaa7af-909f-44e7-84cb-67cdccb56be6',
      aud: 'authenticated',
      role: 'authenticated',
      aal: 'aal1',
      is_anonymous: false,
      session_id: '7a4f',
    },
  },
  {
    name: 'better-auth',
    algorithm: 'EdDSA',
    pins: { issuer: 'https://app.example.com', audience: 'https://app.example.com' },
    claims: {
      iss: 'https://app.example.com',
      aud: 'https://app.example.com',
      sub: 'Jc0x3yNp',
      email: 'a@b.c',
      name: 'A',
    },
  },
]

for (const { name, algorithm, pins, claims } of SHAPES) {
  test(`sessions: a token of ${name} names its user, and each of its pins is looked at`, async (t) => {
    const issuer = await issuerOf(t, algorithm)
    const verify = verifier({ jwksUrl: issuer.jwksUrl }, pins)
    const iat = nowSeconds()
    const { userId, claims: verified } = await verify(await issuer.sign({ ...claims, iat }))
    t.is(userId, claims.sub)
    t.is(verified.iat, iat)
    const changed: (JsonObject & { exp?: number | null })[] = [
      { exp: null },
      { exp: iat - 60 },
      { nbf: iat + 60 },
      { sub: undefined },
      { sub: '' },
      { iss: `${claims.iss}.evil.example` },
      ...(pins.audience === undefined ? [] : [{ aud: 'https://other.example' }, { aud: undefined }]),
      ...(pins.azp === undefined ? [] : [{ azp: 'https://evil.example' }, { azp: undefined }]),
      ...(pins.requiredClaims ?? []).map((claim) => ({ [claim]: undefined })),
    ]
    for (const change of changed) await refused(t, verify, await issuer.sign({ ...claims, iat, ...change }))
    t.is(issuer.fetches(), 1)
  })
}

test('sessions: half a sign-in with Clerk, and the public key of a Supabase project, name no user', async (t) => {
  const issuer = await issuerOf(t, 'RS256')
  const verify = verifier({ jwksUrl: issuer.jwksUrl })
  await refused(t, verify, await issuer.sign({ sub: 'user_1', sts: 'pending' }))
  for (const role of ['anon', 'service_role']) await refused(t, verify, await issuer.sign({ sub: 'x', role }))
})

test('sessions: a public key is not taken for a secret', async (t) => {
  const issuer = await issuerOf(t, 'RS256')
  const verify = verifier({ jwksUrl: issuer.jwksUrl })
  const claims = { sub: 'mallory', exp: nowSeconds() + 600 }
  for (const header of [{ alg: 'HS256', kid: 'key-of-RS256' }, { alg: 'HS256' }])
    await refused(t, verify, signedBy(issuer.pem, header, claims))
})

test('sessions: a token without a signature is none', async (t) => {
  const issuer = await issuerOf(t, 'ES256')
  const claims = base64({ sub: 'mallory', exp: nowSeconds() + 600 })
  for (const verify of [verifier({ jwksUrl: issuer.jwksUrl }), verifier({ secret: SECRET })])
    for (const alg of ['none', 'None', 'NONE', ''])
      for (const signature of ['', '.', '.AA'])
        await refused(t, verify, `${base64({ alg, kid: 'key-of-ES256' })}.${claims}${signature}`)
})

test('sessions: a token that brings its own key is judged by the issuer’s', async (t) => {
  const issuer = await issuerOf(t, 'RS256')
  const mallory = await issuerOf(t, 'RS256')
  const verify = verifier({ jwksUrl: issuer.jwksUrl })
  await refused(t, verify, await mallory.sign({ sub: 'alice' }))
  await refused(t, verify, await mallory.sign({ sub: 'alice' }, { jku: mallory.jwksUrl }))
  t.is(mallory.fetches(), 0)
})

test('sessions: a shared secret verifies HS256 and nothing else', async (t) => {
  const verify = verifier({ secret: SECRET })
  const claims = { sub: 'alice', exp: nowSeconds() + 600 }
  t.is((await verify(signedBy(SECRET, { alg: 'HS256' }, claims))).userId, 'alice')
  await refused(t, verify, signedBy(`${SECRET}!`, { alg: 'HS256' }, claims))
  for (const alg of ['HS384', 'HS512', 'RS256', 'EdDSA']) await refused(t, verify, signedBy(SECRET, { alg }, claims))
  await refused(t, verify, signedBy(SECRET, { alg: 'HS256', crit: ['x'], x: 1 }, claims))
})

test('sessions: a part of a token is none, nor is one with the beginning of another', async (t) => {
  const issuer = await issuerOf(t, 'RS256')
  const verify = verifier({ jwksUrl: issuer.jwksUrl })
  const token = await issuer.sign({ sub: 'alice' })
  t.is((await verify(token)).userId, 'alice')
  for (const length of [0, 1, 20, token.indexOf('.'), token.lastIndexOf('.'), token.length - 1])
    await refused(t, verify, token.slice(0, length))
  // All that begins alike, header and first claims, has been seen just now.
  const [header = '', , signature = ''] = token.split('.')
  await refused(t, verify, `${header}.${base64({ sub: 'mallory', exp: nowSeconds() + 600 })}.${signature}`)
  await refused(t, verify, token.slice(0, 20) + token.slice(20).split('').reverse().join(''))
  await refused(t, verify, `${token}.x`)
  await refused(t, verify, 'a'.repeat(20_000))
})

test('sessions: users are kept apart to the letter, and one is always a text', async (t) => {
  const issuer = await issuerOf(t, 'EdDSA')
  const verify = verifier({ jwksUrl: issuer.jwksUrl }, { userClaim: 'uid' })
  for (const uid of ['a', 'A', 'a ', `${'a'.repeat(254)}b`])
    t.is((await verify(await issuer.sign({ sub: 'ignored', uid }))).userId, uid)
  for (const uid of [5, null, ['a'], {}, 'a\0b', 'a'.repeat(256)])
    await refused(t, verify, await issuer.sign({ sub: 'x', uid }))
})

test('sessions: a clock that is off by seconds is no matter', async (t) => {
  const issuer = await issuerOf(t, 'EdDSA')
  const verify = verifier({ jwksUrl: issuer.jwksUrl })
  const now = nowSeconds()
  t.is((await verify(await issuer.sign({ sub: 'a', exp: now - 2, nbf: now + 2 }))).userId, 'a')
})

test('sessions: while the issuer’s keys cannot be fetched, a token is 503 and not refused', async (t) => {
  const issuer = await issuerOf(t, 'RS256')
  const verify = verifier({ jwksUrl: issuer.jwksUrl })
  const token = await issuer.sign({ sub: 'alice' })
  for (const status of [500, 404]) {
    issuer.answerWith(status)
    await refused(t, verify, token, 'service_unavailable')
  }
  issuer.answerWith(0)
  await refused(t, verify, token, 'service_unavailable')
  issuer.answerWith(200)
  t.is((await verify(token)).userId, 'alice')
  await issuer.close()
  await refused(t, verifier({ jwksUrl: issuer.jwksUrl }), token, 'service_unavailable')
})

test('sessions: keys that were fetched once go on verifying while their issuer is down, for a day', async (t) => {
  const issuer = await issuerOf(t, 'RS256')
  const clock = { at: Date.now(), nowMs: () => clock.at }
  const verify = verifier({ jwksUrl: issuer.jwksUrl }, { clock, freshMs: 0 })
  const exp = nowSeconds() + 10 * 24 * 3600
  const token = await issuer.sign({ sub: 'alice', exp })
  t.is((await verify(token)).userId, 'alice')
  issuer.answerWith(503)
  t.is((await verify(token)).userId, 'alice')
  await refused(t, verify, token.slice(0, -2))
  await refused(t, verify, await issuer.sign({ sub: 'alice', exp }, { kid: 'another' }))
  clock.at += 23 * 3600 * 1000
  t.is((await verify(token)).userId, 'alice')
  clock.at += 2 * 3600 * 1000
  await refused(t, verify, token, 'service_unavailable')
  issuer.answerWith(200)
  t.is((await verify(token)).userId, 'alice')
})

test('sessions: tokens with unknown keys cause no storm of fetches', async (t) => {
  const issuer = await issuerOf(t, 'RS256')
  const verify = verifier({ jwksUrl: issuer.jwksUrl })
  await verify(await issuer.sign({ sub: 'alice' }))
  for (let i = 0; i < 50; i++) await refused(t, verify, await issuer.sign({ sub: 'alice' }, { kid: `unknown-${i}` }))
  t.is(issuer.fetches(), 1)
})
