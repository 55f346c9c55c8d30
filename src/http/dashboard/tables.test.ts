import { text } from 'node:stream/consumers'
import test from 'ava'
import type { Context } from 'koa'
import type { Role } from '../../core/ports/people.ts'
import type { FinishedRequest, UsageRange } from '../../core/telemetry/telemetry.ts'
import { RoleRefused } from '../roles.ts'
import { CaptureOptIns, createStoredCaptures } from './capture-opt-in.ts'
import { creditsRoute } from './credits.ts'
import { isoTime, sendCsv, usd } from './csv.ts'
import { type LiveBatch, LiveFeed } from './live-feed.ts'
import { createMemoryCaptures } from './memory-captures.ts'
import { overviewRoute } from './overview.ts'
import { isOfThisMachine, isOwnPage, isUnderKnownName, isUnderLoopbackName } from './own-page.ts'
import { paymentDaysRoute, paymentsRoute } from './payments.ts'
import { type NamedRequest, REQUEST_COLUMNS } from './request-file.ts'
import { listRoute, requestRoute } from './requests.ts'
import { dashboardTokenOf, setDashboardToken } from './session-cookie.ts'
import {
  assertMayManage,
  assertOperator,
  createCloudViewer,
  createLocalViewer,
  type Managed,
  operatorClaim,
  type Viewer,
} from './viewer.ts'

interface Shown {
  headers?: Record<string, string>
  method?: string
  remoteAddress?: string
  secure?: boolean
  query?: Record<string, string>
  path?: string
  /** Name of its only cookie. */
  cookie?: string
}

/** A request as the dashboard sees it. Safe: it reads only these members. */
function contextOf(shown: Shown = {}) {
  const { headers = {}, method = 'GET', remoteAddress = '127.0.0.1', secure = false, ...rest } = shown
  const { cookie = '__Host-turnpike_session', ...more } = rest
  const set: string[] = []
  const cookies = { get: (name: string) => (name === cookie ? 'token' : undefined) }
  const get = (name: string) => headers[name] ?? ''
  const append = (_: string, value: string) => set.push(value)
  const members = { method, secure, get, cookies, append, attachment() {}, req: { socket: { remoteAddress } }, ...more }
  return Object.assign(members as unknown as Context, { body: undefined as unknown, set })
}

const VIEWER: Viewer = {
  userId: 'u',
  role: 'operator',
  isOperator: true,
  teamIds: [],
  mayChange: true,
  scopes: 'key:a',
  ownScopes: ['key:a'],
  expiresAtMs: undefined,
}
const viewer = async () => VIEWER

test('csv: cells are quoted where needed, and a text like a formula is no formula', async (t) => {
  const rows: [cell: string | number | boolean | null, expected: string][] = [
    [null, ''],
    [-5, '-5'],
    [true, 'true'],
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['two\rlines', '"two\rlines"'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@a', "'@a"],
    ['\ta', "'\ta"],
    ['\ra', '"\'\ra"'],
    ['a=b', 'a=b'],
  ]
  const ctx = contextOf()
  const columns = [['a', (cell: string | number | boolean | null) => cell] as const, ['b', () => 1] as const]
  sendCsv(ctx, { name: 'x.csv', columns, page: async () => rows.map(([cell]) => cell), user: VIEWER, viewer })
  t.is(await text(ctx.body as never), `a,b\r\n${rows.map(([, expected]) => `${expected},1\r\n`).join('')}`) // safe: a stream
})

test('csv: pages follow each other until one is not full, without a limit', async (t) => {
  const asked: [after: number | undefined, limit: number][] = []
  const fileOf = async (total: number) => {
    asked.length = 0
    const ctx = contextOf()
    const page = async (after: number | undefined, limit: number) => {
      asked.push([after, limit])
      const from = after === undefined ? 0 : after + 1
      const length = Math.max(0, Math.min(limit, total - from))
      // Safe: only these members are read. A million rows take a second.
      return {
        length,
        map: () => [`${from}\n`],
        at: () => (length === 0 ? undefined : from + length - 1),
      } as unknown as number[]
    }
    sendCsv(ctx, { name: 'x.csv', columns: [['n', (n: number) => n]], page, user: VIEWER, viewer })
    return (await text(ctx.body as never)).trimEnd() // safe: a stream
  }
  t.is(await fileOf(1000), 'n\r\n0\n500')
  t.deepEqual(asked, [
    [undefined, 500],
    [499, 500],
    [999, 500],
  ])
  t.true((await fileOf(501)).endsWith('\n500'))
  t.true((await fileOf(1_000_000)).endsWith('\n999500'), 'all rows: no note')
  t.is((await fileOf(1_000_001)).split('\n').length, 2002, 'a head, and one line of each page')
})

test('csv: money has nine decimals, times are in UTC', (t) => {
  t.is(usd(1_234_567_891), '1.234567891')
  t.is(usd(null), null)
  t.is(isoTime(0), '1970-01-01T00:00:00.000Z')
})

test('request file: each column has its own value', (t) => {
  const tokens = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }
  const times = { gatewayMs: 5, providerMs: 6, totalMs: 7 }
  // Safe: all that the columns read; each name is its own value.
  const names = ['id', 'requestId', 'keyId', 'route', 'isStream', 'status', 'outcome', 'reason', 'cache', 'pipeline']
  names.push('modelAsked', 'modelServed', 'provider', 'priceSource', 'counterfactualBasis', 'stopReason')
  names.push('userId', 'teamId', 'keyName', 'userName', 'teamName')
  const money = { costNanoUsd: 8_000_000_000, counterfactualNanoUsd: 9_000_000_000, startedAtMs: 0 }
  const own = Object.fromEntries(names.map((name) => [name, name]))
  const conversation = { id: 'conversationId', turn: 8 }
  const row = { ...own, ...money, ...times, tokens, conversation, tags: ['a', 'b'] } as unknown as NamedRequest
  t.deepEqual(Object.fromEntries(REQUEST_COLUMNS.map(([name, value]) => [name, value(row)])), {
    id: 'id',
    request_id: 'requestId',
    conversation_id: 'conversationId',
    turn: 8,
    stop_reason: 'stopReason',
    user_id: 'userId',
    team_id: 'teamId',
    tags: 'a b',
    key_name: 'keyName',
    user_name: 'userName',
    team_name: 'teamName',
    started_at: '1970-01-01T00:00:00.000Z',
    key_id: 'keyId',
    route: 'route',
    stream: 'isStream',
    status: 'status',
    outcome: 'outcome',
    reason: 'reason',
    cache: 'cache',
    pipeline: 'pipeline',
    model_asked: 'modelAsked',
    model_served: 'modelServed',
    provider: 'provider',
    input_tokens: 1,
    output_tokens: 2,
    cache_read_tokens: 3,
    cache_write_tokens: 4,
    cost_usd: '8.000000000',
    price_source: 'priceSource',
    without_gateway_usd: '9.000000000',
    without_gateway_basis: 'counterfactualBasis',
    gateway_ms: 5,
    provider_ms: 6,
    total_ms: 7,
  })
})

test('own page: of its origin, under a name that cannot be rebound, from this machine', (t) => {
  const host = 'gate.example:3099'
  const pages: [headers: Record<string, string>, expected: boolean][] = [
    [{}, true],
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'none' }, true],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ origin: 'http://gate.example:3099' }, true],
    [{ origin: 'https://gate.example:3099' }, true],
    [{ origin: 'http://gate.example' }, false],
    [{ origin: 'http://gate.example:3099.evil.example' }, false],
    [{ origin: 'null' }, false],
  ]
  for (const [headers, expected] of pages)
    t.is(isOwnPage(contextOf({ headers: { host, ...headers } })), expected, JSON.stringify(headers))
  const hosts: [host: string, known: boolean, loopback: boolean][] = [
    ['localhost', true, true],
    ['LocalHost:80', true, true],
    ['a.localhost', true, true],
    ['127.0.0.1:3099', true, true],
    ['127.9.9.9', true, true],
    ['[::1]:3099', true, true],
    ['10.0.0.1', true, false],
    ['[fe80::1]', true, false],
    ['gate.example', true, false],
    ['notlocalhost', false, false],
    ['localhost.example', false, false],
    ['127.evil.example', false, false],
    ['', false, false],
  ]
  for (const [name, known, loopback] of hosts) {
    const ctx = contextOf({ headers: { host: name } })
    t.is(isUnderKnownName(ctx, new Set(['gate.example'])), known, name)
    t.is(isUnderLoopbackName(ctx), loopback, name)
  }
  const machines: [remoteAddress: string, headers: Record<string, string>, expected: boolean][] = [
    ['127.0.0.1', {}, true],
    ['::1', {}, true],
    ['::ffff:127.0.0.1', {}, true],
    ['10.0.0.1', {}, false],
    ['::ffff:10.0.0.1', {}, false],
    ['128.0.0.1', {}, false],
    ['127.0.0.1', { forwarded: 'for=1' }, false],
    ['127.0.0.1', { 'x-forwarded-for': '1' }, false],
    ['127.0.0.1', { 'x-forwarded-host': '1' }, false],
    ['127.0.0.1', { via: '1' }, false],
  ]
  for (const [remoteAddress, headers, expected] of machines)
    t.is(isOfThisMachine(contextOf({ remoteAddress, headers })), expected, remoteAddress + JSON.stringify(headers))
})

test('session cookie: counts for requests of the own page alone, and for writes only with its header', (t) => {
  const host = 'gate.example'
  const rows: [request: Shown, isRead: boolean][] = [
    [{ headers: { host } }, true],
    [{ headers: { host }, method: 'HEAD' }, true],
    [{ headers: { host }, method: 'POST' }, false],
    [{ headers: { host }, method: 'DELETE' }, false],
    [{ headers: { host, 'x-turnpike-dashboard': '1' }, method: 'POST' }, true],
    [{ headers: { host, 'x-turnpike-dashboard': '1', origin: 'https://evil.example' }, method: 'POST' }, false],
    [{ headers: { host, 'sec-fetch-site': 'cross-site' } }, false],
    [{ headers: { host }, cookie: 'turnpike_session' }, false],
    [{ headers: { host: 'localhost:3099' }, cookie: 'turnpike_session' }, true],
  ]
  for (const [request, isRead] of rows)
    t.is(dashboardTokenOf(contextOf(request)), isRead ? 'token' : undefined, JSON.stringify(request))
})

test('session cookie: hidden from scripts and other sites, and over plain http on this machine only', (t) => {
  const cookie = (request: Shown, token: string | undefined = 'abc') => {
    const ctx = contextOf(request)
    setDashboardToken(ctx, token, 1_700_000_000_000)
    return ctx.set[0]
  }
  const plain = 'turnpike_session=abc; Path=/; HttpOnly; SameSite=Strict; Expires=Tue, 14 Nov 2023 22:13:20 GMT'
  const secure = `__Host-${plain}; Secure`
  const rows: [request: Shown, expected: string][] = [
    [{ headers: { host: 'localhost:3099', origin: 'http://localhost:3099' } }, plain],
    [{ headers: { host: 'localhost:3099', origin: 'https://localhost:3099' } }, secure],
    [{ headers: { host: 'gate.example', origin: 'https://gate.example' } }, secure],
    [{ headers: { host: 'gate.example', origin: 'http://gate.example' }, secure: true }, secure],
    [{ headers: { host: 'gate.example' } }, secure],
  ]
  for (const [request, expected] of rows) t.is(cookie(request), expected, JSON.stringify(request))
  const away = { headers: { host: 'gate.example', origin: 'http://gate.example' } }
  t.throws(() => cookie(away), { code: 'permission_error' })
  const ctx = contextOf(away)
  t.notThrows(() => setDashboardToken(ctx, undefined), 'signing out is always possible')
  t.regex(ctx.set[0] ?? '', /^__Host-turnpike_session=; .*Expires=Thu, 01 Jan 1970/)
})

test('overview: a range ends with the current step', async (t) => {
  const HOUR_MS = 3_600_000
  const ranges: UsageRange[] = []
  const usage = async (_: unknown, range: UsageRange) => {
    ranges.push(range)
    return []
  }
  const rangeOf = async (query: Record<string, string>, nowMs: number) => {
    const route = overviewRoute({ viewer, telemetry: { usage, losses: async () => [] }, clock: { nowMs: () => nowMs } })
    await route(contextOf({ query }) as never, async () => {}) // safe: its state is not read
    const { fromMs, toMs, stepMs } = ranges.at(-1) ?? { fromMs: 0, toMs: 0, stepMs: 0 }
    return [fromMs / HOUR_MS, toMs / HOUR_MS, stepMs / HOUR_MS]
  }
  const nowMs = 10_000.5 * HOUR_MS
  const rows: [range: string | undefined, expected: number[]][] = [
    [undefined, [9977, 10_001, 1]],
    ['24h', [9977, 10_001, 1]],
    ['7d', [9834, 10_002, 6]],
    ['30d', [9288, 10_008, 24]],
    ['12mo', [1104, 10_008, 168]],
  ]
  for (const [range, expected] of rows)
    t.deepEqual(await rangeOf(range === undefined ? {} : { range }, nowMs), expected, range)
  t.deepEqual(await rangeOf({}, 10_000 * HOUR_MS), [9977, 10_001, 1], 'a step that begins now is the current one')
  t.deepEqual(await rangeOf({}, HOUR_MS), [0, 2, 1], 'not before 1970')
  await t.throwsAsync(rangeOf({ range: '1y' }, nowMs), { message: /24h, 7d, 30d, 12mo/ })
})

test('viewer: an operator has the claim with the value, or in its list, or as true', (t) => {
  const rows: [text: string | undefined, claims: object, expected: boolean][] = [
    [undefined, { admin: true }, false],
    ['admin', { admin: true }, true],
    ['admin', { admin: 'true' }, false],
    ['admin', {}, false],
    ['role=ops', { role: 'ops' }, true],
    ['role=ops', { role: ['dev', 'ops'] }, true],
    ['role=ops', { role: 'opsx' }, false],
    ['role=ops', { role: ['dev'] }, false],
    ['role=a=b', { role: 'a=b' }, true],
    ['role=', { role: '' }, true],
    ['role=', {}, false],
  ]
  for (const [claim, claims, expected] of rows)
    t.is(operatorClaim(claim)(claims as never), expected, `${claim} ${JSON.stringify(claims)}`) // safe: any claims
})

test('viewer: each role manages what is its own', (t) => {
  const rows: [viewer: Partial<Viewer>, managed: Managed, expected: boolean][] = [
    [{ isOperator: true }, {}, true],
    [{ isOperator: true }, { teamId: 't', userId: 'other' }, true],
    [{}, {}, false],
    [{}, { userId: 'u' }, true],
    [{}, { userId: 'other' }, false],
    [{}, { teamId: 't' }, false],
    [{}, { teamId: null, userId: null }, false],
    [{ teamIds: ['t'] }, { teamId: 't', userId: 'other' }, true],
    [{ teamIds: ['t'] }, { teamId: 'elsewhere', userId: 'other' }, false],
    [{ mayChange: false }, { userId: 'u' }, false],
  ]
  for (const [given, managed, expected] of rows) {
    const viewer = { ...VIEWER, isOperator: false, ...given }
    const manage = () => assertMayManage(viewer, managed)
    if (expected) t.notThrows(manage)
    else t.throws(manage, { instanceOf: RoleRefused, code: 'permission_error' })
  }
  const local = { ...VIEWER, isOperator: false, userId: undefined }
  t.throws(() => assertMayManage(local, { userId: undefined }), { code: 'permission_error' })
})

test('viewer: operators see all requests, leads those of their teams, others their own; bodies are their own for all', async (t) => {
  const see = (role: Role, teamIds: string[] = []) =>
    createCloudViewer({
      session: async () => ({ userId: 'u', claims: { exp: 5, sub: 'u' }, role, teamIds }),
      keysOf: async (_, leads) => ({ own: ['a'], led: leads.map((id) => `of_${id}`) }),
    })(contextOf())
  const common = { userId: 'u', expiresAtMs: 5000, teamIds: [], mayChange: true, ownScopes: ['key:a'] }
  t.deepEqual(await see('member'), { ...common, role: 'member', isOperator: false, scopes: ['key:a'] })
  const lead = { ...common, role: 'lead', isOperator: false, teamIds: ['t'], scopes: ['key:a', 'key:of_t'] } as const
  t.deepEqual<Viewer, Viewer>(await see('lead', ['t']), lead)
  const operator = await see('operator')
  t.deepEqual(operator, { ...common, role: 'operator', isOperator: true, scopes: { everybody: true } })
  const reader = await see('viewer')
  t.like(reader, { isOperator: false, mayChange: false, scopes: { everybody: true } })
  t.deepEqual(reader.ownScopes, [])
  t.notThrows(() => assertOperator(operator, 'x'))
  t.throws(() => assertOperator(reader, 'x'), { instanceOf: RoleRefused })
  const away = contextOf({ remoteAddress: '10.0.0.1', headers: { host: 'localhost' } })
  const local = (access: 'loopback' | 'open', ctx: Context) => createLocalViewer({ access, knownHosts: new Set() })(ctx)
  await t.throwsAsync(local('loopback', away), { code: 'permission_error' })
  t.like(await local('open', away), { isOperator: true, userId: undefined })
  await t.throwsAsync(local('open', contextOf({ headers: { host: 'evil.example' } })), { code: 'permission_error' })
})

test('lists: a full page may have more; the next of payments begins after its last', async (t) => {
  const found = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `${index}`, scope: 'key:a' }))
  let page: { limit?: number; fromMs?: number | undefined } = {}
  const telemetry = (count: number) => ({
    list: async (_: unknown, asked: object) => {
      page = asked
      return found(count) as never // safe: rows are passed on
    },
    find: async () => undefined,
  })
  const requests = async (count: number, query: Record<string, string>) => {
    const ctx = contextOf({ query })
    await listRoute({ viewer, telemetry: telemetry(count), clock: { nowMs: () => 0 } } as never)(
      ctx as never,
      async () => {},
    ) // safe: others are not used
    return (ctx.body as { has_more: boolean }).has_more // safe: the shape of the list
  }
  t.deepEqual([await requests(99, {}), await requests(100, {}), page.limit], [false, true, 100])
  t.is(await requests(2, { limit: '2' }), true)
  t.is(page.fromMs, undefined)
  await requests(0, { fromMs: '1700000000000' })
  t.is(typeof page.fromMs, 'number')
  for (const limit of ['0', '501', 'x', '-1', '1.5'])
    await t.throwsAsync(requests(0, { limit }), { code: 'invalid_request' }, limit)
  await t.notThrowsAsync(requests(0, { limit: '500' }))
  const listed = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ atMs: 10 - n, challengeId: `c${n}`, scopes: ['s'] }))
  let asked: { limit?: number; after?: object; sinceMs?: number } = {}
  const payments = async (count: number, query: Record<string, string>) => {
    const ctx = contextOf({ query })
    const list = async (page: { limit: number }) => {
      asked = page
      return listed(Math.min(count, page.limit))
    }
    await paymentsRoute({ viewer, payments: { list } } as never)(ctx as never, async () => {}) // safe: others are not used
    return ctx.body as { data: object[]; next_cursor: string | null } // safe: the shape of the list
  }
  t.deepEqual(await payments(3, { limit: '2' }), {
    data: [
      { atMs: 10, challengeId: 'c0' },
      { atMs: 9, challengeId: 'c1' },
    ],
    next_cursor: '9.c1',
  })
  t.like(await payments(2, { limit: '2', after: '9.c.1' }), { next_cursor: null })
  t.like(asked, { limit: 3, after: { atMs: 9, challengeId: 'c.1' } })
  const forOthers = paymentsRoute({ viewer: async () => ({ ...VIEWER, isOperator: false }) } as never) // safe: it is refused first
  await t.throwsAsync(async () => forOthers(contextOf() as never, async () => {}), { code: 'permission_error' })
  const report = async (since: { sinceMs: number }) => {
    asked = since
    return []
  }
  const DAY_MS = 86_400_000
  const days = paymentDaysRoute({ viewer, payments: { report }, clock: { nowMs: () => 100.7 * DAY_MS } } as never) // safe: others are not used
  await days(contextOf() as never, async () => {})
  t.is(asked.sinceMs, 71 * DAY_MS, 'thirty days with today')
})

test('credits: a page of the own account, and whether more follow', async (t) => {
  let asked: object = {}
  const credits = async (page: { limit: number }) => {
    asked = page
    return Array.from({ length: Math.min(3, page.limit) }, (_, n) => ({ n })) as never // safe: rows are passed on
  }
  const bodyOf = async (query: Record<string, string>) => {
    const ctx = contextOf({ query })
    await creditsRoute({ viewer, credits })(ctx as never, async () => {}) // safe: its state is not read
    return ctx.body
  }
  t.deepEqual(await bodyOf({ limit: '2', after: '7' }), { data: [{ n: 0 }, { n: 1 }], has_more: true })
  t.deepEqual(asked, { after: 7, accountId: 'u', limit: 3 })
  t.like(await bodyOf({ limit: '3' }), { has_more: false })
})

test('request page: a capture of another scope with the same id is not shown, nor one of a foreign scope', async (t) => {
  const body = { bytes: Buffer.from('hi'), totalBytes: 3 }
  const shownOf = async (scope: string, captured: string, ownScopes = ['key:a']) => {
    const capture = { id: 'r', scope: captured, request: body, versions: [], reply: body }
    const options = {
      viewer: async () => ({ ...VIEWER, ownScopes }),
      telemetry: {
        find: async (_: unknown, id: string) => (id === 'r' ? { id, scope, hasReceipt: false } : undefined),
      },
      captures: { get: async () => capture },
    }
    const ctx = contextOf({ path: '/dashboard/api/requests/r' })
    await requestRoute(options as never)(ctx as never, async () => {}) // safe: others are not used
    return (ctx.body as { capture: unknown }).capture // safe: the shape of the page
  }
  const text = { text: 'hi', isCut: true, totalBytes: 3 }
  t.deepEqual(await shownOf('key:a', 'key:a'), { request: text, canonical: null, versions: [], reply: text })
  t.is(await shownOf('key:a', 'key:b'), null)
  t.is(await shownOf('key:b', 'key:b'), null)
})

const request = (id: string, scope = 'key:a') => ({ id, scope, trace: { steps: [] } }) as unknown as FinishedRequest // safe: only these are read

/** A feed whose pauses end by hand, and the batches that a page has received. */
function openFeed() {
  const works: (() => void)[] = []
  const feed = new LiveFeed((work) => void works.push(work))
  const pass = () => {
    for (const work of works.splice(0)) work()
  }
  const open = (options: { scopes?: string; lastId?: string; isFull?: boolean } = {}) => {
    const batches: LiveBatch[] = []
    const write = (batch: LiveBatch) => {
      batches.push(batch)
      return options.isFull !== true
    }
    let ends = 0
    const sink = { write, end: () => void ends++ }
    const watcher = feed.watch({ scopes: options.scopes ?? 'key:a', sink, lastId: options.lastId })
    const ids = () => batches.map(({ requests, dropped }) => [dropped, ...requests.map(({ id }) => id)])
    return { watcher, ids, ends: () => ends, batches }
  }
  return { feed, pass, open, works }
}

test('live feed: a page gets requests of its scopes, together, and the last fifty of too many', (t) => {
  const { feed, pass, open, works } = openFeed()
  const { ids } = open()
  for (const id of ['1', '2']) feed.publish(request(id))
  feed.publish(request('3', 'key:b'))
  t.is(works.length, 1)
  pass()
  t.deepEqual(ids(), [[0, '1', '2']])
  for (let n = 0; n < 52; n++) feed.publish(request(`${n}`))
  pass()
  t.deepEqual(ids()[1], [2, ...Array.from({ length: 50 }, (_, n) => `${n + 2}`)])
  pass()
  t.is(ids().length, 2, 'nothing more is sent')
})

test('live feed: a page that reconnects gets what is kept after its last, of the last 200', (t) => {
  const { feed, pass, open } = openFeed()
  for (let n = 100; n < 310; n++) feed.publish(request(`${n}`))
  const rows: [lastId: string | undefined, sent: string[]][] = [
    ['308', ['309']],
    ['309', []],
    [undefined, []],
    ['308x', ['309']],
    ['400', []],
  ]
  for (const [lastId, sent] of rows) {
    const { ids } = open(lastId === undefined ? {} : { lastId })
    pass()
    t.deepEqual(ids(), sent.length === 0 ? [] : [[0, ...sent]], lastId)
  }
  const { batches } = open({ lastId: '100' })
  pass()
  t.is(
    batches.reduce((sum, { requests, dropped }) => sum + requests.length + dropped, 0),
    200,
  )
})

test('live feed: a full connection gets nothing until it has drained; one that has left, nothing more', (t) => {
  const { feed, pass, open } = openFeed()
  const { watcher, ids, ends } = open({ isFull: true })
  feed.publish(request('1'))
  pass()
  feed.publish(request('2'))
  pass()
  t.deepEqual(ids(), [[0, '1']])
  watcher.onDrain()
  pass()
  t.deepEqual(ids(), [
    [0, '1'],
    [0, '2'],
  ])
  watcher.onDrain()
  watcher.take({ requests: [], dropped: 4 })
  pass()
  t.deepEqual(ids()[2], [4])
  watcher.onDrain()
  feed.publish(request('3'))
  feed.close()
  pass()
  feed.publish(request('4'))
  pass()
  t.deepEqual([ids().length, ends()], [3, 1])
})

test('captures in memory: the newest of an id, the oldest evicted, bodies after plugins counted', async (t) => {
  const body = (size: number) => ({ bytes: Buffer.alloc(size), totalBytes: size })
  const put = (captures: ReturnType<typeof createMemoryCaptures>, id: string, sizes: number[]) => {
    const [request = 0, reply = 0, canonical = 0, version = 0] = sizes
    const versions = [{ module: 'm', ...body(version) }]
    captures.put({ id, scope: 's', request: body(request), reply: body(reply), canonical: body(canonical), versions })
  }
  const few = createMemoryCaptures({ most: 2, maxBytes: 100_000 })
  for (const id of ['a', 'b', 'c']) put(few, id, [])
  put(few, 'c', [7])
  t.is(await few.get('b'), undefined)
  t.is((await few.get('c'))?.request.totalBytes, 7)
  for (const sizes of [[3000], [0, 3000], [0, 0, 3000], [0, 0, 0, 3000]]) {
    const small = createMemoryCaptures({ most: 9, maxBytes: 2 * (3000 + 1024) })
    for (const id of ['a', 'b', 'c']) put(small, id, sizes)
    const found = await Promise.all(['a', 'b', 'c'].map(async (id) => (await small.get(id)) !== undefined))
    t.deepEqual(found, [false, true, true], String(sizes))
  }
})

test('capture opt-in: it ends at its time, is stored that long, and an unknown one is looked up once', async (t) => {
  const clock = { ms: 1000, nowMs: () => clock.ms }
  const entries = new Map<string, Buffer>()
  const kept: (number | undefined)[] = []
  let reads = 0
  const store = {
    get: async (key: string) => {
      reads++
      return entries.get(key)
    },
    set: async (key: string, value: Buffer, forMs?: number) => {
      kept.push(forMs)
      entries.set(key, value)
    },
    delete: async (key: string) => void entries.delete(key),
  }
  const optIns = new CaptureOptIns({ store, keepMs: 5, clock, log: {} as never }) // safe: nothing fails
  t.false(optIns.isWanted(undefined))
  t.is(reads, 0)
  t.deepEqual([optIns.isWanted('ann'), optIns.isWanted('ann')], [false, false])
  t.is(reads, 1, 'one look-up for concurrent requests')
  await new Promise(setImmediate)
  t.is(await optIns.set('ann', 5000), 6000)
  t.deepEqual(kept, [5000])
  clock.ms = 5999
  t.true(optIns.isWanted('ann'))
  clock.ms = 6000
  t.false(optIns.isWanted('ann'))
  t.is(await optIns.untilMs('ann'), undefined)
  t.is(await optIns.set('ann', 0), undefined)
  t.is(entries.size, 0)
  const before = reads
  clock.ms += 10_000
  optIns.isWanted('ann')
  t.is(reads, before, 'known for ten seconds')
  clock.ms += 1
  optIns.isWanted('ann')
  t.is(reads, before + 1)
})

test('stored captures: kept for their time, and returned as they were', async (t) => {
  const entries = new Map<string, [Buffer, number | undefined]>()
  const store = {
    get: async (key: string) => entries.get(key)?.[0],
    set: async (key: string, value: Buffer, forMs?: number) => void entries.set(key, [value, forMs]),
    delete: async () => {},
  }
  const captures = createStoredCaptures({ store, keepMs: 77, log: {} as never }) // safe: nothing fails
  const body = { bytes: Buffer.from('x'), totalBytes: 2 }
  const captured = { id: 'r', scope: 's', request: body, canonical: undefined, versions: [], reply: body }
  captures.put(captured)
  t.is(entries.get('r')?.[1], 77)
  t.is(String(Buffer.from((await captures.get('r'))?.request.bytes ?? [])), 'x')
  t.is(await captures.get('other'), undefined)
})
