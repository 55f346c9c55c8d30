import { gunzipSync } from 'node:zlib'
import test from 'ava'
import { startFixture } from '../support/cache-fixture.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway } from '../support/gateway.ts'
import { send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'

const FIRST_LOAD_LIMIT_BYTES = 60 * 1024
const fixture = await startFixture({ config: { dashboard: { capture_requests: 2 } } })
test.after.always('close the fixture', () => fixture.close())

const { url, port } = fixture.gateway
const get = (path: string, headers: Readonly<Record<string, string>> = {}, from = url) =>
  send(from, { method: 'GET', path, headers: { host: `127.0.0.1:${port}`, ...headers } })
const listOf = (reply: { json: unknown }) => {
  const data = valueAt(reply.json, 'data')
  return Array.isArray(data) ? data : []
}
/** Resolves with what is known of a request, once it is. */
async function detailOf(id: unknown): Promise<unknown> {
  const find = () => get(`/dashboard/api/requests/${id}`)
  await eventually(async () => (await find()).status === 200, `a row of ${id}`)
  return (await find()).json
}

test('dashboard: the page admits its own scripts alone, and its files are cached permanently by their names', async (t) => {
  const page = await get('/')
  const policy = String(page.headers['content-security-policy'])
  t.is(page.status, 200)
  t.regex(policy, /default-src 'none'/)
  t.notRegex(policy, /unsafe|https?:|\*/)
  t.is(page.headers['cache-control'], 'no-cache')
  t.is((await get('/', { 'if-none-match': String(page.headers.etag) })).status, 304)
  const names = page.text.match(/\/assets\/[\w.-]+/g) ?? []
  t.true(names.length >= 2)
  t.notRegex(page.text, /<script>|style=|onload=/)
  for (const name of names) {
    const file = await get(name, { 'accept-encoding': 'gzip' })
    t.is(file.headers['cache-control'], 'public, max-age=31536000, immutable')
    t.is(file.headers['content-encoding'], 'gzip')
    t.deepEqual(gunzipSync(file.body), (await get(name)).body)
  }
  t.is((await get('/assets/nothing.js')).status, 404)
})

test('dashboard: the scripts of the first load, packed, stay within their limit', async (t) => {
  const page = await get('/')
  const entry = /\/assets\/[\w-]+\.js/.exec(page.text)?.[0] ?? ''
  const script = await get(entry)
  // The overview is the first page, and loads its charts; scripts of other pages are loaded with them.
  const imported = script.text.match(/(?<=from[`"']\.\/)[\w-]+\.js/g) ?? []
  const charts = script.text.match(/draw-chart-[\w-]+\.js/g) ?? []
  t.true(imported.length > 0 && charts.length > 0)
  const files = [entry, ...new Set([...imported, ...charts].map((name) => `/assets/${name}`))]
  const packed = await Promise.all(files.map((file) => get(file, { 'accept-encoding': 'gzip' })))
  const scripts = packed.filter(({ headers }) => String(headers['content-type']).includes('javascript'))
  const bytes = scripts.reduce((sum, { body }) => sum + body.length, 0)
  t.log(`${scripts.length} scripts, ${bytes} bytes packed`)
  t.true(scripts.length >= 2 && bytes > 0 && bytes < FIRST_LOAD_LIMIT_BYTES)
})

const REFUSED: readonly [what: string, headers: Readonly<Record<string, string>>][] = [
  ['under a name that another site may have led here', { host: 'evil.example:3099' }],
  ['by a page of another site', { 'sec-fetch-site': 'cross-site' }],
  ['by a page of another port', { origin: 'http://127.0.0.1:9' }],
  ['through a proxy', { 'x-forwarded-for': '203.0.113.7' }],
]
for (const [what, headers] of REFUSED) {
  test(`dashboard: in local mode what is asked ${what} is refused`, async (t) => {
    for (const path of ['session', 'requests', 'live', 'settings', 'requests.csv', 'overview', 'plugins', 'payments']) {
      const reply = await get(`/dashboard/api/${path}`, headers)
      t.is(reply.status, 403, path)
      t.is(valueAt(reply.json, 'error.type'), 'permission_error')
    }
  })
}

test('dashboard: localhost, numeric addresses and pages of its own are let in', async (t) => {
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
    t.is((await get('/dashboard/api/session', { host, 'sec-fetch-site': 'same-origin' })).status, 200, host)
})

test('dashboard: all callers of local mode are seen, and what modules did with each request', async (t) => {
  const pipe = 'exact-cache'
  const replies = [
    await fixture.ask('seen by all', { as: 'ada', pipe }),
    await fixture.ask('seen by all', { as: 'ben', pipe }),
    await fixture.ask('seen by all', { as: 'ben', pipe }),
  ]
  const details = await Promise.all(replies.map(({ headers }) => detailOf(headers['x-svc-receipt'])))
  t.deepEqual(
    details.map((detail) => valueAt(detail, 'request.cache')),
    ['miss', 'miss', 'hit'],
  )
  t.true(details.every((detail) => valueAt(detail, 'receipt.isValid') === true))
})

test('dashboard: lists are filtered by text, cache and end, and paged', async (t) => {
  const refused = await fixture.ask('fails', { pipe: 'none', extra: { model: 'claude-of-the-filter', max_tokens: -1 } })
  const asked = await fixture.ask('is there', { pipe: 'exact-cache', extra: { model: 'claude-of-the-filter' } })
  await detailOf(asked.headers['x-svc-receipt'])
  const found = async (query: string) =>
    listOf(await get(`/dashboard/api/requests?text=OF-THE-filter&${query}`)).map((row) => valueAt(row, 'id'))
  t.is(refused.status, 400)
  t.is((await found('')).length, 2)
  t.deepEqual(await found('cache=miss'), [asked.headers['x-svc-receipt']])
  t.deepEqual(await found('cache=hit'), [])
  t.is((await found('ended=failed')).length, 1)
  t.deepEqual(await found('ended=complete'), [asked.headers['x-svc-receipt']])
  t.deepEqual(await found(`fromMs=${Date.now() + 60_000}`), [])
  t.deepEqual(listOf(await get('/dashboard/api/requests?text=%25_')), [])
  const page = await get(`/dashboard/api/requests?limit=1`)
  t.is(listOf(page).length, 1)
  t.is(valueAt(page.json, 'has_more'), true)
})

test('dashboard: an invalid filter is an error with the expected value', async (t) => {
  for (const [query, message] of [
    ['limit=0', /limit/],
    ['limit=x', /limit: expected a whole number/],
    ['cache=warm', /cache/],
    ['nothing=1', /nothing/i],
  ] as const) {
    const reply = await get(`/dashboard/api/requests?${query}`)
    t.is(reply.status, 400)
    t.regex(String(valueAt(reply.json, 'error.message')), message)
  }
  t.is((await get('/dashboard/api/overview?range=1y')).status, 400)
})

test('dashboard: the file of requests has a line for each, and no cell that a spreadsheet would run', async (t) => {
  const odd = await fixture.ask('odd', { pipe: 'none', extra: { model: '=1+"a",b' } })
  await detailOf(odd.headers['x-svc-receipt'])
  const file = await get('/dashboard/api/requests.csv?text=%3D1%2B%22a')
  const [head, line, end] = file.text.split('\r\n')
  t.is(file.headers['content-disposition'], 'attachment; filename="turnpike-requests.csv"')
  t.regex(head ?? '', /^id,request_id,started_at,/)
  t.true(line?.includes(`"'=1+""a"",b"`))
  t.is(end, '')
})

test('dashboard: a cell that begins with a tab is no formula behind it', async (t) => {
  const odd = await fixture.ask('tabbed', { pipe: 'none', extra: { model: '\t=1+tabbed' } })
  await detailOf(odd.headers['x-svc-receipt'])
  const { text } = await get('/dashboard/api/requests.csv?text=1%2Btabbed')
  t.true(text.includes(`,'\t=1+tabbed,`), text)
})

test.serial('dashboard: bodies are kept of the last requests only, and counted as they were', async (t) => {
  const replies = []
  for (const name of ['first', 'second', 'third'])
    replies.push(await fixture.ask(`kept ${name}`, { stream: true, pipe: 'none', as: 'keeper' }))
  const details = []
  for (const { headers } of replies) details.push(await detailOf(headers['x-svc-receipt']))
  t.is(valueAt(details[0], 'capture'), null)
  t.regex(String(valueAt(details[2], 'capture.request.text')), /kept third/)
  t.is(valueAt(details[2], 'capture.reply.text'), replies[2]?.text)
  t.is(valueAt(details[2], 'capture.reply.totalBytes'), replies[2]?.body.length)
})

test('dashboard: `open` shows it to others too, still under no name that may have been led here; `off` takes it away', async (t) => {
  const [open, off] = await Promise.all([
    startGateway({ SVC_DASHBOARD: 'open' }),
    startGateway({ SVC_DASHBOARD: 'off' }),
  ])
  t.teardown(() => Promise.all([open.stop(), off.stop()]))
  const statusOf = async (path: string, gateway: { url: string; port: number }, headers = {}) =>
    (await get(path, { host: `127.0.0.1:${gateway.port}`, ...headers }, gateway.url)).status
  t.is(await statusOf('/dashboard/api/session', open, { 'x-forwarded-for': '203.0.113.7' }), 200)
  t.is(await statusOf('/dashboard/api/session', open, { host: 'evil.example' }), 403)
  t.is(await statusOf('/', off), 405, 'only HEAD, which clients probe with')
  t.is(await statusOf('/dashboard/api/session', off), 404)
})
