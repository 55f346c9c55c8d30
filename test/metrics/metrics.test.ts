import test, { type ExecutionContext } from 'ava'
import { startCloudGateway } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, send } from '../support/http-client.ts'
import { startProvider } from '../support/stand-in-provider.ts'

const TOKEN = 'a-token-for-the-scraper'

const provider = await startProvider()
test.after.always(() => provider.close())

const PROVIDER = { ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'sk-ant-canary' }

async function open(t: ExecutionContext, starting: Promise<Gateway>): Promise<Gateway> {
  const gateway = await starting
  t.teardown(() => gateway.stop())
  return gateway
}

function scrape({ url }: Gateway, headers: Record<string, string> = {}) {
  return send(url, { method: 'GET', path: '/metrics', headers })
}

const SERIES = /^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (-?[\d.]+(?:e[+-]?\d+)?)$/
const COMMENT = /^# (HELP [a-z_]+ .+|TYPE [a-z_]+ (counter|gauge|histogram))$/

/** Parses every series by its name and labels as printed; fails for a line that is none. */
function seriesOf(t: ExecutionContext, text: string): Map<string, number> {
  const lines = text.trimEnd().split('\n')
  const series = lines.filter((line) => !COMMENT.test(line)).map((line) => ({ line, found: SERIES.exec(line) }))
  t.deepEqual(
    series.filter(({ found }) => found === null).map(({ line }) => line),
    [],
  )
  const entries = series.map(({ line, found }) => [line.slice(0, line.lastIndexOf(' ')), Number(found?.[3])] as const)
  t.is(new Map(entries).size, entries.length, 'no series twice')
  return new Map(entries)
}

test('metrics: each kind of token has a series of its own', async (t) => {
  const gateway = await open(t, startGateway(PROVIDER))
  const usage = { input_tokens: 7, cache_read_input_tokens: 20, cache_creation_input_tokens: 100, output_tokens: 3000 }
  provider.reply((request) => (request.raw.includes('of each kind') ? { kind: 'answer', usage } : undefined))
  t.is((await send(gateway.url, { body: ask('of each kind') })).status, 200)
  const kinds = async () => {
    const series = [...seriesOf(t, (await scrape(gateway)).text)].filter(([name]) => name.includes('_tokens_total{'))
    return Object.fromEntries(series.map(([name, value]) => [/class="(\w+)"/.exec(name)?.[1], value]))
  }
  await eventually(async () => Object.keys(await kinds()).length > 0, 'the tokens are counted')
  t.deepEqual(await kinds(), { input: 7, cache_read: 20, cache_write: 100, output: 3000 })
})

test('metrics: requests, tokens, money, modules and the process are counted', async (t) => {
  const gateway = await open(t, startGateway(PROVIDER))
  for (let i = 0; i < 2; i++) t.is((await send(gateway.url, { body: ask('the same') })).status, 200)
  t.is((await send(gateway.url, { body: '{' })).status, 400)
  t.is((await send(gateway.url, { method: 'GET', path: '/no-such-"path' })).status, 404)
  const counted = async () => seriesOf(t, (await scrape(gateway)).text)
  const hits = 'turnpike_module_runs_total{module="exact-cache",action="hit"}'
  await eventually(async () => (await counted()).get(hits) === 1, 'the hit is counted')
  const series = await counted()
  const at = (name: string) => series.get(name) ?? Number.NaN
  const sum = (start: string) =>
    [...series].filter(([name]) => name.startsWith(start)).reduce((total, [, value]) => total + value, 0)

  t.is(at('turnpike_http_requests_total{method="POST",route="/v1/messages",status="200"}'), 2)
  t.is(at('turnpike_http_requests_total{method="POST",route="/v1/messages",status="400"}'), 1)
  t.is(at('turnpike_http_requests_total{method="GET",route="unmatched",status="404"}'), 1)
  t.is(at('turnpike_errors_total{code="invalid_request"}'), 1)
  t.is(at('turnpike_errors_total{code="not_found"}'), 1)
  t.is(at('turnpike_http_requests_in_flight'), 1, 'the scrape itself')
  t.is(at('turnpike_http_request_duration_seconds_count{route="/v1/messages"}'), 3)
  t.is(at('turnpike_http_request_duration_seconds_bucket{route="/v1/messages",le="+Inf"}'), 3)
  t.is(at('turnpike_module_runs_total{module="exact-cache",action="miss"}'), 1)
  t.is(at('turnpike_provider_attempts_total{provider="anthropic",outcome="answered",status="200"}'), 1)
  t.is(at('turnpike_gateway_duration_seconds_count'), 2)
  t.is(sum('turnpike_model_requests_total'), 2)
  t.true(sum('turnpike_tokens_total') > 0)
  t.true(sum('turnpike_provider_cost_usd_total') > 0)
  const saved = sum('turnpike_counterfactual_cost_usd_total') - sum('turnpike_provider_cost_usd_total')
  t.true(saved > 0, 'the second answer was free')
  t.is(at('turnpike_unpriced_requests_total'), 0)
  t.true(at('process_resident_memory_bytes') > 10_000_000)
  t.true(at('process_cpu_seconds_total') > 0)
  t.true(at('nodejs_eventloop_utilization') >= 0)
})

test('metrics: without a token a cloud gateway refuses them, with one it serves its bearer', async (t) => {
  const [without, withToken] = await Promise.all([
    open(t, startCloudGateway()),
    open(t, startCloudGateway({ SVC_METRICS_TOKEN: TOKEN })),
  ])
  t.like((await scrape(without)).json, { error: { detail: 'metrics' } })
  t.is((await scrape(withToken)).status, 401)
  t.is((await scrape(withToken, { authorization: 'Bearer a-token-for-the-scrapes' })).status, 401)
  const reply = await scrape(withToken, { authorization: `Bearer ${TOKEN}` })
  t.is(reply.status, 200)
  t.regex(String(reply.headers['content-type']), /^text\/plain; version=0\.0\.4/)
  t.regex(reply.text, /turnpike_info\{version="[^"]+",mode="cloud",node="v\d/)
  t.false(withToken.log().includes(TOKEN))
})

test('metrics: a request through a proxy is not of this machine', async (t) => {
  const gateway = await open(t, startGateway())
  t.is((await scrape(gateway)).status, 200)
  t.like((await scrape(gateway, { 'x-forwarded-for': '10.0.0.1' })).json, { error: { detail: 'metrics' } })
})

test('metrics: one of several processes answers for all', async (t) => {
  const gateway = await open(t, startGatewayProcess(PROVIDER, { args: ['--workers', '2'] }))
  const infos = async () => (await scrape(gateway)).text.match(/^turnpike_info\{.*,worker="\d+"\} 1$/gm) ?? []
  await eventually(async () => (await infos()).length === 2, 'both are listed')
  // Each with a connection of its own, so that both processes get some.
  for (let i = 0; i < 6; i++) t.is((await send(gateway.url, { body: ask(`hi ${i}`) })).status, 200)
  const count = async () => {
    const series = seriesOf(t, (await scrape(gateway)).text)
    return [...series].filter(([name]) => name.startsWith('turnpike_http_requests_total{method="POST"'))
  }
  await eventually(async () => (await count()).reduce((sum, [, value]) => sum + value, 0) === 6, 'all are counted')
})

test('metrics: switched off, the route reports it and replies are unchanged', async (t) => {
  const gateway = await open(t, startGateway({ ...PROVIDER, SVC_METRICS: 'off' }))
  t.like((await scrape(gateway)).json, { error: { detail: 'metrics' } })
  t.is((await send(gateway.url, { body: ask('hi') })).status, 200)
})
