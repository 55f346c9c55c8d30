import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import test, { type ExecutionContext } from 'ava'
import type { Middleware } from 'koa'
import { createRouter, type HttpAppOptions } from '../../src/http/app.ts'
import { openapiDocument } from '../../src/http/openapi/document.ts'
import { ROUTES } from '../../src/http/openapi/routes.ts'
import { AGENT, credential, openAgentFixture, readChallenge } from '../payments/agent-fixture.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway } from '../support/gateway.ts'
import { ask, type Reply, type SendOptions, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { adminCalls } from './admin-calls.ts'
import { signInCalls } from './sign-in-calls.ts'

/*
 * DESIGN. The OpenAPI document's reply schemas are written by hand; this test requests every route that the router has from a
 * gateway and validates the replies. A route that is registered and not documented, or documented and never requested,
 * fails. Objects are open, so that clients which validate accept a later member; an undocumented member therefore passes.
 */

/** Routes that clients probe at their start. */
const PROBES = new Set(['head /', 'head /api/hello'])

/** Placeholder for the dependencies of a route; none is used before there is a request. */
const anything: unknown = new Proxy(() => anything, { get: () => anything })

/** The routes that a gateway with these parts registers, as `get /v1/keys/{id}`. */
function routesOf(parts: Partial<HttpAppOptions>): string[] {
  const options = {
    relay: anything,
    storedResponses: anything,
    socket: anything,
    models: anything,
    metrics: anything,
    receipts: { receipts: { keys: [] } },
    health: { providers: [] },
    documents: { version: '0', mode: 'cloud' },
    intakes: anything,
    allowedRoutes: [],
    ...parts,
  } as unknown as HttpAppOptions // safe: see `anything`
  const hot = new Map(
    ['/v1/messages', '/v1/chat/completions', '/v1/responses', '/v1/responses/compact'].map((path) => [
      path,
      anything as Middleware,
    ]),
  )
  return createRouter(options, hot)
    .stack.filter(({ methods }) => methods.length < 5) // `all` refuses
    .flatMap(({ path, methods }) =>
      methods
        .filter((method) => method !== 'HEAD' || methods.length === 1)
        .map((method) => `${method.toLowerCase()} ${String(path).replaceAll(/:(\w+)|\{\*(\w+)\}/g, '{$1$2}')}`),
    )
}

test('http api: every route that is registered is documented, and no other', (t) => {
  const served = routesOf({
    accounts: { admin: anything },
    billing: anything,
    agent: anything,
    signIn: anything,
  } as Partial<HttpAppOptions>)
  t.true(served.length > 25)
  t.deepEqual(
    ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted(),
    [...new Set(served)].filter((route) => !PROBES.has(route)).toSorted(),
  )
})

const SCHEMAS = valueAt(
  openapiDocument({
    version: '0',
    publicUrl: undefined,
    mode: 'cloud',
    amountCents: 50,
    isSandbox: true,
    hasSignIn: true,
  }),
  'components',
)
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })

/** Asserts that a value has the documented shape. */
function assertShape(t: ExecutionContext, name: string, value: unknown): void {
  const validate = ajv.compile({ $ref: `#/components/schemas/${name}`, components: SCHEMAS })
  t.true(validate(value), `${name}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`)
}

/** Routes whose replies have had the documented shape; all of `ROUTES` in the end. */
const checked = new Set<string>()

/** Asserts that a reply is the documented success of a route. */
function assertReply(t: ExecutionContext, route: string, { status, json, text, headers }: Reply): void {
  const [method, path] = route.split(' ')
  const entry = ROUTES.find((each) => each.method === method && each.path === path)
  if (entry === undefined) throw new Error(`${route} is not documented`)
  t.is(String(status), entry.status ?? '200', `${route}: ${text}`)
  const { reply } = entry
  if (reply === 'text') t.regex(String(headers['content-type']), /^text\/plain/, route)
  else if (reply !== undefined && reply !== 'any') assertShape(t, reply, json)
  checked.add(route)
}

test('http api: the shapes refuse what is not of them', (t) => {
  const wrong = {
    MessageRequest: {},
    Message: { id: 1 },
    NewKey: { nam: 'x' },
    Checkout: { tier: 'free' },
    Balance: {},
  }
  for (const [name, value] of Object.entries(wrong))
    t.false(ajv.compile({ $ref: `#/components/schemas/${name}`, components: SCHEMAS })(value), name)
})

test('http api: examples are of their own shape', (t) => {
  const examples = Object.entries(valueAt(SCHEMAS, 'schemas') as object).filter(([, schema]) => 'example' in schema)
  t.true(examples.length > 0)
  for (const [name, { example }] of examples) assertShape(t, name, example)
})

test.serial('http api: in local mode replies have the documented shapes, paid ones too', async (t) => {
  await using agentFixture = await openAgentFixture()
  const agent = agentFixture.agent()
  const body = ask('hello')
  const get = (path: string, headers?: SendOptions['headers']) =>
    send(agentFixture.url, { method: 'GET', path, ...(headers && { headers }) })
  const answered = await send(agentFixture.url, { body })
  assertReply(t, 'post /v1/messages', answered)
  assertShape(t, 'MessageRequest', body)
  assertReply(t, 'post /v1/chat/completions', await send(agentFixture.url, { path: '/v1/chat/completions', body }))
  const responses = { model: body.model, input: 'hello' }
  assertReply(t, 'post /v1/responses', await send(agentFixture.url, { path: '/v1/responses', body: responses }))
  const compacted = await send(agentFixture.url, { path: '/v1/responses/compact', body: responses })
  assertReply(t, 'post /v1/responses/compact', compacted)
  assertShape(t, 'ResponsesRequest', responses)
  assertReply(
    t,
    'post /v1/messages/count_tokens',
    await send(agentFixture.url, { path: '/v1/messages/count_tokens', body }),
  )
  const models = await get('/v1/models')
  assertReply(t, 'get /v1/models', models)
  assertReply(t, 'get /v1/models/{name}', await get(`/v1/models/${valueAt(models.json, 'data.0.id')}`))
  const receipt = `/v1/receipts/${answered.headers['x-svc-receipt']}`
  await eventually(async () => (await get(receipt)).status === 200, 'the receipt is there')
  assertReply(t, 'get /v1/receipts/{id}', await get(receipt))
  for (const path of [
    '/v1/receipts',
    '/health',
    '/ready',
    '/metrics',
    '/openapi.json',
    '/llms.txt',
    '/.well-known/mpp',
    '/.well-known/turnpike-ledger',
  ])
    assertReply(t, `get ${path}`, await get(path))
  assertReply(t, 'get /.well-known/turnpike-keys', await get('/.well-known/turnpike-keys'))
  assertReply(t, 'get /v1/ledger/inclusion', await get('/v1/ledger/inclusion?leaf=0'))
  assertReply(t, 'get /v1/ledger/consistency', await get('/v1/ledger/consistency?from=1'))
  assertReply(t, 'post /v1/agent/quote', await send(agentFixture.url, { path: '/v1/agent/quote', body }))
  const challenged = await agent.send({ body })
  assertShape(t, 'PaymentProblem', challenged.json)
  assertReply(t, `post ${AGENT}`, await agent.pay(body, readChallenge(challenged), agent.grant()))
  const path = '/v1/agent/sessions'
  const authorization = credential(readChallenge(await agent.send({ path })), agent.grant())
  const session = await agent.send({ path, headers: { authorization } })
  assertReply(t, `post ${path}`, session)
  assertReply(t, `get ${path}`, await get(path, { authorization: String(valueAt(session.json, 'authorization')) }))
  assertReply(t, 'get /v1/agent/ledger', await get('/v1/agent/ledger'))
  assertShape(t, 'Balance', (await get('/v1/billing/balance')).json)
  assertShape(t, 'Error', (await get('/v1/nothing')).json)
})

/** Answered only with Stripe behind them; `test/billing` has them. */
const AT_STRIPE = [
  'patch /v1/billing/auto-recharge',
  'post /v1/billing/checkout',
  'post /v1/billing/portal',
  'post /v1/billing/webhook',
]

test.serial('http api: stored responses have the documented shapes', async (t) => {
  await using gateway = await startGateway({ SVC_RESPONSES_KEEP: 'true' })
  const body = { model: 'demo/echo', input: 'hello' }
  const { json } = await send(gateway.url, { path: '/v1/responses', body })
  const path = `/v1/responses/${valueAt(json, 'id')}`
  assertReply(t, 'get /v1/responses/{id}', await send(gateway.url, { method: 'GET', path }))
  const items = await send(gateway.url, { method: 'GET', path: `${path}/input_items` })
  assertReply(t, 'get /v1/responses/{id}/input_items', items)
  assertReply(t, 'delete /v1/responses/{id}', await send(gateway.url, { method: 'DELETE', path }))
})

/** Answered only by a provider that stores responses; `test/responses` has it. */
const AT_PROVIDER = ['post /v1/responses/{id}/cancel']

test.serial('http api: the sandbox’s wallet has the documented shape', async (t) => {
  await using gateway = await startGateway({ SVC_MPP: 'sandbox' })
  const path = '/v1/agent/sandbox/tokens'
  assertReply(t, `post ${path}`, await send(gateway.url, { path, body: { amount: 50 } }))
  t.regex((await send(gateway.url, { method: 'GET', path: '/llms.txt' })).text, /This is a sandbox/)
})

test.serial('http api: in cloud mode replies have the documented shapes, and no route is left out', async (t) => {
  const env = {
    SVC_MODE: 'cloud',
    SVC_SESSION_SECRET: 'the-secret-of-sessions-of-tests-and-nothing-else',
    SVC_SESSION_OPERATOR_CLAIM: 'sub=ada',
    SVC_SIGN_IN_ISSUER: 'http://127.0.0.1:9',
    SVC_SIGN_IN_CLIENT_ID: 'turnpike',
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-http-api-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'turnpike.yaml')
  await writeFile(file, 'sign_in: { managed_settings: [{ settings: { cleanupPeriodDays: 7 } }] }')
  await using gateway = await startGateway({ ...env, SVC_CONFIG: file })
  const { stdout } = await runCommandInThread(['session-token', '--user', 'ada'], { env })
  const headers = { authorization: `Bearer ${stdout.trim()}` }
  const call = (method: string, path: string, body?: object) =>
    send(gateway.url, { method, path, headers, ...(body && { body: { ...body } }) })
  const created = await call('POST', '/v1/keys', { name: 'nightly job' })
  assertReply(t, 'post /v1/keys', created)
  assertReply(t, 'get /v1/keys', await call('GET', '/v1/keys'))
  const key = `/v1/keys/${valueAt(created.json, 'id')}`
  assertReply(t, 'patch /v1/keys/{id}', await call('PATCH', key, { limits: { costPerDay: 5 } }))
  assertReply(t, 'post /v1/keys/{id}/rotate', await call('POST', `${key}/rotate`, { overlapSeconds: 60 }))
  assertReply(t, 'delete /v1/keys/{id}', await call('DELETE', key))
  for await (const [route, reply] of adminCalls(call)) assertReply(t, route, reply)
  for await (const [route, reply] of signInCalls(gateway.url, headers)) assertReply(t, route, reply)
  assertReply(t, 'get /v1/billing/balance', await call('GET', '/v1/billing/balance'))
  assertShape(t, 'Error', (await call('POST', '/v1/billing/checkout', { tier: 'pro' })).json)
  const open = ROUTES.map(({ method, path }) => `${method} ${path}`).filter((route) => !checked.has(route))
  t.deepEqual(open.toSorted(), [...AT_STRIPE, ...AT_PROVIDER])
})
