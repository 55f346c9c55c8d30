import { IncomingMessage, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import test from 'ava'
import type { Context } from 'koa'
import { GatewayError } from '../core/errors.ts'
import type { AccountStanding } from '../core/ports/people.ts'
import type { RateDecision } from '../core/ports/rate-limit.ts'
import { countFailedAuthentication, createCloudAuthenticate, createLocalAuthenticate } from './authentication.ts'
import { BodyIntake } from './body-intake.ts'
import { assertJson } from './content-type.ts'
import { bearerOf, forProvider, presentedCredential, presentedSecrets, providerKeyOf } from './credential.ts'
import { keptPrivate } from './kept-private.ts'
import { assertModules } from './key-limits.ts'
import { parseListLimit } from './list-limit.ts'
import { notFound } from './not-found.ts'
import { createOriginGuard } from './origin-guard.ts'
import { isUnpaid, limitPresented, unpaid, withoutCredential } from './payment-challenge.ts'
import { limitRequests } from './rate-limit.ts'
import { Readiness } from './readiness.ts'
import { repetitionOf } from './repeated-answer.ts'
import { RoleRefused } from './roles.ts'
import { RunningRequests } from './running-requests.ts'
import { followBody, ObservedResponse } from './sent-body.ts'
import { createSessionReader } from './session.ts'

/** Returns whether a function returns without an error. */
const passes = (run: () => unknown) => {
  try {
    run()
    return true
  } catch {
    return false
  }
}

/** A request as the guards see it. Safe: they read only these members. */
const contextOf = (method: string, path: string, headers: Record<string, string> = {}) =>
  ({ method, path, get: (name: string) => headers[name] ?? '' }) as unknown as Context

test('credential: the secret of each header, and the one that is used of two', (t) => {
  const isKey = (secret: string) => secret.startsWith('tp_')
  const rows: [headers: Record<string, string>, expected: string, why: string][] = [
    [{ authorization: 'Bearer a' }, 'authorization a', 'bearer'],
    [{ authorization: 'bearer   a b ' }, 'authorization a b', 'any case, any spaces, spaces within'],
    [{ 'x-api-key': ' k ' }, 'x-api-key k', 'key, trimmed'],
    [{ authorization: 'Bearer a', 'x-api-key': 'k' }, 'authorization a', 'both: the bearer'],
    [{ authorization: 'Bearer a', 'x-api-key': 'tp_k' }, 'x-api-key tp_k', 'both: the one that is well-formed'],
    [{ authorization: 'Bearer tp_a', 'x-api-key': 'tp_k' }, 'authorization tp_a', 'both well-formed: the bearer'],
    [{ authorization: 'Bearer ', 'x-api-key': 'k' }, 'x-api-key k', 'an empty bearer'],
    [{ authorization: 'Basic a', 'x-api-key': 'k' }, 'x-api-key k', 'another scheme'],
  ]
  for (const [headers, expected, why] of rows) {
    const { header, secret } = presentedCredential(headers, isKey)
    t.is(`${header} ${secret}`, expected, why)
  }
  for (const headers of [{}, { authorization: 'Basic a' }, { authorization: 'Bearera' }, { 'x-api-key': ' ' }])
    t.throws(() => presentedCredential(headers), { code: 'authentication_error' }, JSON.stringify(headers))
  t.is(bearerOf({ authorization: 'Payment x' }), undefined)
})

test('credential: the provider key of a caller, and to which providers a credential goes', (t) => {
  t.deepEqual(providerKeyOf({ 'x-provider-key': ' k ' }), { header: 'x-provider-key', secret: 'k' })
  t.is(providerKeyOf({ 'x-provider-key': ' ' }), undefined)
  t.deepEqual(forProvider({ header: 'x-provider-key', secret: 'k' }, 'one'), {
    header: 'x-provider-key',
    secret: 'k',
    provider: 'one',
  })
  t.deepEqual(forProvider({ header: 'x-api-key', secret: 'k' }, 'one'), { header: 'x-api-key', secret: 'k' })
  t.is(forProvider(undefined, 'one'), undefined)
})

test('credential: all secrets of a request are redacted, of every header and each of its values', (t) => {
  const headers = { authorization: 'Bearer a', 'x-api-key': ['b', ' c '], 'x-provider-key': 'd', 'x-other': 'e' }
  t.deepEqual(presentedSecrets(headers), ['a', 'b', 'c', 'd'])
  t.deepEqual(presentedSecrets({}), [])
})

const decision = (limit: number): RateDecision => ({
  isAllowed: true,
  limit,
  windowMs: 60_000,
  remaining: 3,
  resetMs: 1500,
  retryMs: 0,
})

test('rate limit: the lower of the limits of the operator and the owner counts; 0 is none', async (t) => {
  const taken: (number | string | undefined)[] = []
  const requests = {
    take: (key: string, most?: number) => {
      taken.push(key, most)
      return decision(most ?? 0)
    },
    close: async () => {},
  }
  const rows = [
    [5, undefined, 5],
    [5, 3, 3],
    [3, 5, 3],
    [0, 4, 4],
    [4, 0, 4],
    [0, undefined, undefined],
    [0, 0, undefined],
  ] as const
  for (const [operators, owners, most] of rows) {
    taken.length = 0
    const caller = { scope: 'key:a', limits: owners === undefined ? undefined : { requestsPerMinute: owners } }
    const headers = await limitRequests({ requests, requestsPerMinute: operators, failures: undefined }, caller)
    t.deepEqual(taken, most === undefined ? [] : ['key:a', most], `${operators} and ${owners}`)
    const expected = { 'ratelimit-policy': `"key";q=${most};w=60`, ratelimit: '"key";r=3;t=2' }
    t.deepEqual(headers, most === undefined ? {} : expected)
  }
})

test('rate limit: a refusal has the headers of the provider', async (t) => {
  const refused = { ...decision(5), isAllowed: false, remaining: 0, resetMs: 60_000, retryMs: 12_000 }
  const requests = { take: () => refused, close: async () => {} }
  const beforeMs = Date.now()
  const error = await t.throwsAsync<Error & { headers: Record<string, string> }>(
    limitRequests({ requests, requestsPerMinute: 5, failures: undefined }, { scope: 'key:a' }),
    { message: /^More than 5 requests in 60 seconds/ },
  )
  const { 'anthropic-ratelimit-requests-reset': reset, ...others } = error?.headers ?? {}
  t.like(others, {
    'retry-after': '12',
    'anthropic-ratelimit-requests-limit': '5',
    'anthropic-ratelimit-requests-remaining': '0',
    'ratelimit-policy': '"key";q=5;w=60',
  })
  const resetMs = Date.parse(String(reset))
  t.true(resetMs >= beforeMs + 60_000 && resetMs <= Date.now() + 60_000, reset)
})

test('key limits: modules that the caller has chosen must be listed; those of the operator need not', (t) => {
  const isAllowed = (names: string[], source: 'default' | 'request', modules?: string[]) => {
    const steps = names.map((name) => ({ step: { name: name.replace('!', '') }, isLocked: name.endsWith('!') }))
    // Safe: the check reads only these members.
    return passes(() => assertModules({ steps, source } as never, modules === undefined ? {} : { limits: { modules } }))
  }
  t.true(isAllowed(['a'], 'request'), 'no list')
  t.true(isAllowed(['a', 'b'], 'request', ['b', 'a']))
  t.false(isAllowed(['a', 'b'], 'request', ['a']))
  t.true(isAllowed(['a', 'b!'], 'request', ['a']), 'a locked step')
  t.true(isAllowed(['b'], 'default', ['a']), 'the default pipeline')
  t.false(isAllowed(['a'], 'request', []), 'an empty list')
})

test('running requests: as many as allowed run at once, and one that closes makes room for one', (t) => {
  const running = new RunningRequests(2)
  const closes: (() => void)[] = []
  const response = (destroyed = false) =>
    ({ destroyed, on: (_: string, listener: () => void) => void closes.push(listener) }) as unknown as ServerResponse // safe: only these are used
  const enter = (scope = 'a', destroyed?: boolean) => passes(() => running.enter(scope, response(destroyed)))
  t.deepEqual([enter(), enter(), enter(), enter('b')], [true, true, false, true])
  t.true(enter('a', true), 'a request whose client has left does not count')
  closes[0]?.()
  t.deepEqual([enter(), enter()], [true, false])
  for (const close of closes.slice(1)) close()
  t.deepEqual([enter(), enter(), enter()], [true, true, false])
  const error = t.throws(() => running.enter('a', response()), { code: 'rate_limit_error' })
  t.like(error, { headers: { 'retry-after': '1' } })
})

test('origin guard: pages under a rebound name are refused, the gateway’s own and allowed ones are not', (t) => {
  const page = { origin: 'http://evil.example', host: 'evil.example' }
  const rows: [
    expected: boolean,
    request: [method: string, path: string],
    headers: Record<string, string>,
    why: string,
  ][] = [
    [false, ['POST', '/v1/messages'], page, 'a rebound name with an origin'],
    [false, ['POST', '/v1/messages'], { 'sec-fetch-site': 'same-origin', host: 'evil.example' }, 'without an origin'],
    [true, ['POST', '/v1/messages'], { host: 'evil.example' }, 'no page: no header of browsers'],
    [true, ['POST', '/v1/messages'], { ...page, host: 'localhost:3099' }, 'local name with a port'],
    [true, ['POST', '/v1/messages'], { ...page, host: 'app.localhost' }, 'below localhost'],
    [true, ['POST', '/v1/messages'], { ...page, host: '[::1]:3099' }, 'a numeric address'],
    [true, ['POST', '/v1/messages'], { ...page, host: 'Gate.Example' }, 'the gateway’s own name, any case'],
    [true, ['POST', '/v1/messages'], { ...page, origin: 'https://app.example' }, 'an origin of cors_origins'],
    [false, ['GET', '/v1/models'], { host: 'evil.example' }, 'on loopback, a GET of a page has no origin'],
    [false, ['HEAD', '/v1/models'], { host: 'evil.example' }, 'HEAD too'],
    [true, ['GET', '/v1/models'], { host: 'gateway' }, 'a name of one label'],
    [true, ['GET', '/v1/models'], { host: 'gate.home.arpa' }, 'a private name'],
    [true, ['GET', '/v1/models'], { host: 'gate.internal' }, 'a private name'],
    [false, ['GET', '/v1/models'], { host: 'internal.example' }, 'a public name that only contains one'],
    [true, ['GET', '/health'], { host: 'evil.example' }, 'a path without data'],
    [true, ['GET', '/ready'], { host: 'evil.example' }, 'a path without data'],
    [false, ['GET', '/health/x'], { host: 'evil.example' }, 'a path below one'],
  ]
  const options = { knownHosts: new Set(['gate.example']), corsOrigins: ['https://app.example'] }
  const guard = (isOnLoopback: boolean, corsOrigins = options.corsOrigins) => {
    const middleware = createOriginGuard({ ...options, corsOrigins, isOnLoopback })
    return (ctx: Context) => passes(() => middleware(ctx as never, async () => {})) // safe: state is not read
  }
  const onLoopback = guard(true)
  for (const [expected, request, headers, why] of rows)
    t.is(onLoopback(contextOf(...request, headers)), expected, `${request} ${headers.host}: ${why}`)
  t.true(guard(false)(contextOf('GET', '/v1/models', { host: 'public.example' })), 'a public address')
  t.false(guard(false)(contextOf('GET', '/v1/models', page)))
  t.true(guard(true, ['*'])(contextOf('POST', '/v1/messages', page)), 'any origin')
})

test('not found: a likely path is suggested with the change of the base URL', (t) => {
  const known = new Set(['POST /v1/messages', 'GET /v1/models', 'GET /dashboard'])
  const match = (path: string, method: string) => {
    const route = known.has(`${method} ${path}`)
    return { route, path: route ? [{}] : [] }
  }
  const middleware = notFound({ match } as never) // safe: only `match` is used
  const hint = (path: string, method = 'POST') => {
    const error = t.throws(() => middleware(contextOf(method, path) as never, async () => {}), { code: 'not_found' })
    return error?.message.replace(`There is nothing at ${method} ${path}.`, '')
  }
  const rows: [path: string, expected: RegExp][] = [
    ['/v1/v1/messages', /`\/v1\/messages`\? The client adds `\/v1` itself/],
    ['/messages', /`\/v1\/messages`\? Put `\/v1` at the end/],
    ['/api/v1/messages', /`\/v1\/messages`\? Check the base URL/],
    ['//v1//messages/', /`\/v1\/messages`\? Check/],
    ['/V1/messages', /`\/v1\/messages`\?/],
    ['/dashboard', /^$/],
    ['/models', /^$/],
    ['/v1/unknown', /^$/],
    ['/', /^$/],
    ['/messagesx', /^$/],
    ['/v1/completions', /chat completions/],
    ['/completions', /chat completions/],
    ['/v1/complete', /Use Messages/],
    ['/embeddings', /not offered/],
  ]
  for (const [path, expected] of rows) t.regex(hint(path) ?? '', expected, path)
  t.is(hint('/dashboard/', 'GET'), ' Did you mean `/dashboard`?', 'no advice about /v1 for other paths')
  t.true(passes(() => middleware(contextOf('POST', '/v1/messages') as never, async () => {})))
})

test('repetition: the key of a retry names the challenge and the token; 255 characters at most', (t) => {
  const credential = { challenge: { id: 'c' }, token: 'spt_1' } as never // safe: only these members are read
  const of = (key?: string) => repetitionOf({ req: { headers: { 'idempotency-key': key } } as never }, credential)
  t.like(of('k'.repeat(255)), { challengeId: 'c', key: 'k'.repeat(255) })
  t.not(of('k')?.tokenHash, 'spt_1')
  t.is(of(), undefined)
  t.is(of(''), undefined)
  t.throws(() => of('k'.repeat(256)), { code: 'invalid_request' })
})

test('sent body: digest and size are of the bytes that were written, in any encoding', (t) => {
  const open = () => new ObservedResponse(new IncomingMessage(new Socket()))
  const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  const ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  const rows: [pieces: unknown[][], expected: object][] = [
    [[], { sha256: EMPTY, bytes: 0 }],
    [[['abc']], { sha256: ABC, bytes: 3 }],
    [[['a'], [Buffer.from('b')], ['c']], { sha256: ABC, bytes: 3 }],
    [[['616263', 'hex']], { sha256: ABC, bytes: 3 }],
    [[['abc'], [() => {}]], { sha256: ABC, bytes: 3 }],
  ]
  for (const [pieces, expected] of rows) {
    const response = open()
    const [digest, other] = [followBody(response), followBody(response)]
    for (const piece of pieces.slice(0, -1)) response.write(...(piece as [string])) // safe: as callers do
    response.end(...((pieces.at(-1) ?? []) as [string])) // safe: as callers do
    for (const one of [digest, other]) t.like(one(), expected)
  }
  const left = open()
  const digest = followBody(left)
  left.write('abc')
  left.destroy()
  left.write('more')
  t.like(digest(), { bytes: 3, sha256: ABC }, 'bytes for a client that has left are not sent')
})

test('body types: plain JSON in any spelling of its type, without an encoding', (t) => {
  const isJson = (type?: string, encoding?: string) =>
    passes(() => assertJson({ headers: { 'content-type': type, 'content-encoding': encoding } } as IncomingMessage)) // safe: only these are read
  const accepted = ['application/json', 'Application/JSON; charset=utf-8', 'application/json ;x', 'application/ld+json']
  for (const type of accepted) t.true(isJson(type), type)
  for (const type of [undefined, 'text/plain', 'application/jsonp', 'x application/json', 'application/+json'])
    t.false(isJson(type), type)
  t.true(isJson('application/json', 'identity'))
  t.false(isJson('application/json', 'gzip'))
})

test('list limit: a whole number from 1 to the most', (t) => {
  for (const [text, expected] of [
    ['1', 1],
    ['50', 50],
  ] as const)
    t.is(parseListLimit(text, 50), expected)
  for (const text of ['0', '51', '1.5', 'x', '-1'])
    t.throws(() => parseListLimit(text, 50), { message: /from 1 to 50/ })
})

test('kept private: no shared cache stores a reply, private ones as the provider has set', (t) => {
  const rows: [value: string | string[] | undefined, expected: string][] = [
    [undefined, 'private'],
    ['', 'private'],
    ['public, max-age=5', 'private, max-age=5'],
    ['s-maxage=9', 'private'],
    ['S-MaxAge, PUBLIC', 'private'],
    ['private, max-age=5', 'private, max-age=5'],
    ['no-store', 'no-store'],
    ['publicly', 'private, publicly'],
    ['no-cache="a, public"', 'no-store'],
    [['public', 'max-age=1'], 'private, max-age=1'],
  ]
  for (const [value, expected] of rows) t.is(keptPrivate(value), expected, String(value))
})

test('authentication: each credential is a scope, and refused ones count by subnet', async (t) => {
  const local = createLocalAuthenticate()
  const callerOf = async (secret: string) => (await local({ 'x-api-key': secret })).caller
  t.is(await callerOf('a'), await callerOf('a'))
  t.not((await callerOf('a')).scope, (await callerOf('b')).scope)
  t.notRegex((await callerOf('secret')).scope, /secret/)
  const cloud = createCloudAuthenticate((key) => ({ caller: { kind: 'local', scope: key } }) as never) // safe: passed on
  const headers = { authorization: 'Bearer key', 'x-provider-key': 'own' }
  const own = { header: 'x-provider-key', secret: 'own' }
  t.like(await cloud(headers), { caller: { scope: 'key' }, credential: own })
  t.is((await cloud({ authorization: 'Bearer key' })).credential, undefined, 'no provider receives the key')
  const taken: string[] = []
  const limiter = (isAllowed: boolean) => ({
    take: (key: string) => {
      taken.push(key)
      return { ...decision(1), isAllowed, retryMs: 1500 }
    },
    close: async () => {},
  })
  const count = (error: unknown, isAllowed = true) =>
    countFailedAuthentication(limiter(isAllowed), { socket: { remoteAddress: '10.0.0.1' } } as IncomingMessage, error) // safe: what is read
  const wrong = new GatewayError('authentication_error', 'x')
  await count(new GatewayError('permission_error', 'x'), false)
  await count(new Error('x'), false)
  t.deepEqual(taken, [])
  await count(wrong)
  t.deepEqual(taken, ['10.0.0.1'])
  const error = await t.throwsAsync<Error & { headers: object }>(count(wrong, false), { code: 'rate_limit_error' })
  t.like(error?.headers, { 'retry-after': '2' })
})

const intake = new BodyIntake({ limitBytes: 10, budgetBytes: 10 })

test('sessions: a token in either place, 600 requests a minute, and no suspended accounts', async (t) => {
  const taken: unknown[] = []
  const requests = {
    take: (key: string, most?: number) => {
      taken.push(key, most)
      return decision(most ?? 0)
    },
    close: async () => {},
  }
  const read = async (authorization: string | undefined, given: Partial<AccountStanding> = {}) => {
    const session = createSessionReader({
      verify: async (token) => ({ userId: token, claims: { sub: token } }),
      limits: { requests, requestsPerMinute: 5, failures: undefined },
      intake,
      openAccount: async () => ({ tier: 'free', role: 'member', suspendedAtMs: null, leads: [], ...given }),
      isOperator: () => false,
    })
    const ctx = contextOf('GET', '/v1/keys')
    // Safe: what is read of a request.
    return session(
      Object.assign(ctx, { req: { headers: { authorization } }, set() {}, cookies: { get: () => 'cookie' } }) as never,
    )
  }
  t.like(await read('Bearer ann'), { userId: 'ann' })
  t.deepEqual(taken, ['session:ann', 600])
  t.like(await read(undefined), { userId: 'cookie' })
  await t.throwsAsync(read('Bearer svc_live_abc'), { message: /API keys are not accepted/ })
  await t.throwsAsync(read('Bearer ann', { suspendedAtMs: 0 }), { code: 'permission_error' })
})

test('session: the role is the highest of the account’s, the teams’ and the claims’; a viewer changes nothing', async (t) => {
  const limits = { requests: undefined, requestsPerMinute: 5, failures: undefined }
  const read = (given: Partial<AccountStanding>, { user = 'ann', method = 'GET' } = {}) => {
    const session = createSessionReader({
      verify: async () => ({ userId: user, claims: { sub: user } }),
      limits,
      intake,
      openAccount: async () => ({ tier: 'free', role: 'member', suspendedAtMs: null, leads: [], ...given }),
      isOperator: (claims) => claims.sub === 'boss',
    })
    const ctx = contextOf(method, '/v1/keys')
    // Safe: what is read of a request.
    return session(Object.assign(ctx, { req: { headers: { authorization: 'Bearer t' } }, set() {} }) as never)
  }
  const roleOf = async (...given: Parameters<typeof read>) => (await read(...given)).role
  t.is(await roleOf({}), 'member')
  t.is(await roleOf({ role: 'viewer' }), 'viewer')
  t.is(await roleOf({ role: 'viewer', leads: ['t'] }), 'lead')
  t.is(await roleOf({ role: 'operator', leads: ['t'] }), 'operator')
  t.is(await roleOf({ role: 'viewer' }, { user: 'boss' }), 'operator')
  t.is(await roleOf({ role: 'viewer' }, { method: 'HEAD' }), 'viewer')
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    await t.throwsAsync(read({ role: 'viewer' }, { method }), { instanceOf: RoleRefused })
})

test('rate limits: a person’s and a team’s count all of their keys; the refusal names whose limit it is', async (t) => {
  const taken: string[] = []
  let refusing = ''
  const requests = {
    take: (key: string, most = 0) => {
      taken.push(`${key}/${most}`)
      return { ...decision(most), remaining: most, isAllowed: !key.startsWith(refusing) || refusing === '' }
    },
    close: async () => {},
  }
  const caller = { scope: 'key:a', keyId: 'a', userId: 'ann', teamId: 'team_1' }
  const limited = { ...caller, personLimits: { requestsPerMinute: 7 }, teamLimits: { requestsPerMinute: 3 } }
  const limit = () => limitRequests({ requests, requestsPerMinute: 9, failures: undefined }, limited)
  t.is((await limit())['ratelimit-policy'], '"team";q=3;w=60', 'the limit with the least left')
  t.deepEqual(taken, ['key:a/9', 'user:ann/7', 'team:team_1/3'])
  for (const [owner, words] of [
    ['key:', /^More than 9 requests in 60 seconds with this key\./],
    ['user:', /^More than 7 requests in 60 seconds by the owner of this key\./],
    ['team:', /^More than 3 requests in 60 seconds by the team of this key\./],
  ] as const) {
    refusing = owner
    await t.throwsAsync(limit(), { message: words })
  }
})

test('payments: how each credential is counted, and what providers see', async (t) => {
  const limited = async (kind: string, recognised: boolean) => {
    const counted: string[] = []
    const count = (name: string) => async (value: unknown) => void counted.push(`${name} ${value}`)
    const challengeLimiter = { admitCall: count('call'), admitSubmit: count('submit'), admit: count('admit') }
    const recognises = () => recognised
    const parts = { challengeLimiter, paywall: { recognises }, sessions: { recognises }, route: '/a' }
    const presented = { kind, challenge: { id: 'c' }, token: 't' }
    await limitPresented({ req: 'request' } as never, presented as never, parts as never) // safe: what is read
    return counted.join()
  }
  const rows = [
    ['session', true, 'call c'],
    ['session', false, 'admit request'],
    ['payment', true, 'submit c'],
    ['payment', false, 'admit request'],
    ['none', true, 'admit request'],
    ['malformed', true, 'admit request'],
  ] as const
  for (const [kind, recognised, expected] of rows)
    t.is(await limited(kind, recognised), expected, `${kind} ${recognised}`)
  const kinds = ['none', 'malformed', 'payment', 'session'].filter((kind) => isUnpaid({ kind } as never)) // safe: what is read
  t.deepEqual(kinds, ['none', 'malformed'])
  t.is(unpaid({ kind: 'none' }).problem, 'payment-required')
  t.like(unpaid({ kind: 'malformed', reason: 'x' }), { problem: 'malformed-credential' })
  const headers = { authorization: 'Payment x', 'idempotency-key': 'k', accept: 'a' }
  t.deepEqual(withoutCredential({ headers } as never), { accept: 'a' }) // safe: what is read
})

test('readiness: ready until it drains, and failing while its commits would be lost', (t) => {
  let canServe = true
  const readiness = new Readiness(() => canServe)
  t.is(readiness.state, 'ready')
  canServe = false
  t.is(readiness.state, 'failing')
  const set: string[] = []
  const response = { setHeader: (...header: string[]) => set.push(header.join()) }
  const prependListener = (_: string, listener: (...parts: unknown[]) => void) => listener({}, response)
  readiness.end({ prependListener } as never) // safe: what is called
  t.is(readiness.state, 'draining')
  t.deepEqual(set, ['connection,close'])
})
