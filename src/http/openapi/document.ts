import { AGENT_PATH } from '../routes/agent.ts'
import { type Access, ROUTES, type RouteEntry } from './routes.ts'
import { SCHEMAS } from './schemas.ts'

/** Facts of this instance for the document. */
export interface OpenapiOptions {
  readonly version: string
  /** The instance's base URL. Default: that of the request. */
  readonly publicUrl: string | undefined
  readonly mode: 'local' | 'cloud'
  /** Price of a paid call; unset when agent payments are off. */
  readonly amountCents: number | undefined
  /** True where payments are those of the sandbox. */
  readonly isSandbox: boolean
  /** True where users sign in at an identity provider. */
  readonly hasSignIn: boolean
}

const SECURITY: Readonly<Record<Access, readonly object[]>> = {
  none: [],
  key: [{ apiKey: [] }],
  session: [{ session: [] }],
  payment: [{ payment: [] }],
}

const SCHEMES = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key. In local mode any text.' },
  session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A user’s session token.' },
  payment: {
    type: 'http',
    scheme: 'Payment',
    description: 'The challenge of a 402 reply, paid with a Shared Payment Token.',
  },
}

/** Returns the OpenAPI 3.1 document of the routes of this instance. */
export function openapiDocument({
  version,
  publicUrl,
  mode,
  amountCents,
  isSandbox,
  hasSignIn,
}: OpenapiOptions): object {
  const isThere = ({ only, path }: RouteEntry) =>
    (only === undefined || only === mode || (only === 'sandbox' && isSandbox) || (only === 'sign-in' && hasSignIn)) &&
    (amountCents !== undefined || !path.startsWith('/v1/agent/'))
  const paths: Record<string, Record<string, object>> = {}
  for (const route of ROUTES.filter(isThere)) {
    const operations = paths[route.path] ?? {}
    operations[route.method] = operationOf(route, amountCents)
    paths[route.path] = operations
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Turnpike',
      version,
      summary: 'A gateway for model messages: swap the base URL, name the plugins, pay per call.',
    },
    servers: [{ url: publicUrl ?? '/' }],
    'x-service-info': { categories: ['llm-generation'], docs: { llms: '/llms.txt', apiReference: '/openapi.json' } },
    paths,
    components: { schemas: SCHEMAS, securitySchemes: SCHEMES },
  }
}

function operationOf(route: RouteEntry, amountCents: number | undefined): object {
  const { method, path, summary, access, body, reply, status = '200' } = route
  // The price of a prepaid session is in its challenge.
  const amount = path === AGENT_PATH ? String(amountCents) : null
  const offers = [{ intent: 'charge', method: 'stripe', amount, currency: 'usd' }]
  const isPaid = access === 'payment' && method === 'post'
  return {
    operationId: `${method}${path.replaceAll(/\W+(\w)/g, (_, first: string) => first.toUpperCase()).replaceAll(/\W/g, '')}`,
    summary,
    security: SECURITY[access],
    ...parametersOf(route),
    ...(body !== undefined && { requestBody: { required: !OPTIONAL.has(body), content: contentOf(body) } }),
    ...(isPaid && { 'x-payment-info': { offers } }),
    responses: {
      [status]: { description: 'Done.', ...(reply !== undefined && { content: contentOf(reply) }) },
      ...(isPaid && { 402: PAYMENT_REQUIRED }),
      default: { description: 'An error.', content: contentOf('Error') },
    },
  }
}

/** Optional bodies. */
const OPTIONAL: ReadonlySet<RouteEntry['body']> = new Set(['SessionOrder', 'Portal', 'KeyRotation', 'MemberRole'])

const PAYMENT_REQUIRED = {
  description: 'It has to be paid first, or the payment was not good. Nothing was charged.',
  headers: { 'WWW-Authenticate': { description: 'The challenge, `Payment …`.', schema: { type: 'string' } } },
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/PaymentProblem' } } },
}

function parametersOf({ path, query = {} }: RouteEntry): object {
  const schema = { type: 'string' }
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema }))
  const inQuery = Object.entries(query).map(([name, description]) => ({ name, in: 'query', description, schema }))
  const parameters = [...inPath, ...inQuery]
  return parameters.length === 0 ? {} : { parameters }
}

/** Replies that are streamed with `stream: true`. */
const STREAMED: ReadonlySet<RouteEntry['reply']> = new Set(['Message', 'ChatCompletion'])

function contentOf(schema: NonNullable<RouteEntry['body']>): object {
  if (schema === 'text') return { 'text/plain': { schema: { type: 'string' } } }
  if (schema === 'form') return { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } }
  const json = schema === 'any' ? { type: 'object' } : { $ref: `#/components/schemas/${schema}` }
  return {
    'application/json': { schema: json },
    ...(STREAMED.has(schema) && { 'text/event-stream': { schema: { type: 'string' } } }),
  }
}

/** Returns a description of this instance and its prices for language models (llmstxt.org). */
export function llmsText({ amountCents, isSandbox }: OpenapiOptions): string {
  const sandbox = isSandbox
    ? '\nThis is a sandbox: no money moves. `POST /v1/agent/sandbox/tokens` with `{"amount": 50}` grants a token.\n'
    : ''
  const paid =
    amountCents === undefined
      ? ''
      : `
## Paying per call

Without an account: send the request to \`POST ${AGENT_PATH}\`. The reply is 402 with a challenge in \`WWW-Authenticate: Payment\`.
Pay it with a Shared Payment Token of Stripe (${(amountCents / 100).toFixed(2)} USD) and send the same bytes again with
\`Authorization: Payment <credential>\`. A 200 carries \`Payment-Receipt\`. After 502 or 503 send the same credential again: it is
not charged twice. Ask \`POST /v1/agent/quote\` first what a body would cost and which \`max_tokens\` fits.
${sandbox}`
  return `# Turnpike

> A gateway for model messages. Requests and replies have the shape of the Messages API; \`stream: true\` gives server-sent events.

- [Routes](/openapi.json): the OpenAPI document
- [Payment discovery](/.well-known/mpp)
${paid}`
}
