import type { SCHEMAS } from './schemas.ts'

/** What a route asks its callers for. */
export type Access = 'none' | 'key' | 'session' | 'payment'

type Schema = keyof typeof SCHEMAS | 'any'

/** A public route, as its documentation tells it. */
export interface RouteEntry {
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  /** With its parameters in braces. */
  readonly path: string
  readonly summary: string
  readonly access: Access
  /** Only in this mode. */
  readonly only?: 'cloud'
  readonly body?: Schema
  readonly reply?: Schema
  /** Of success; default 200. */
  readonly status?: string
}

const MESSAGE = { body: 'MessageRequest', reply: 'Message' } as const
const ANSWER = { reply: 'any' } as const
const CHANGE = { body: 'any', reply: 'any' } as const
const CLOUD = { access: 'session', only: 'cloud' } as const

/** Every public route; a test holds them against those that are served. */
export const ROUTES: readonly RouteEntry[] = [
  { method: 'post', path: '/v1/messages', summary: 'Asks a model.', access: 'key', ...MESSAGE },
  {
    method: 'post',
    path: '/v1/chat/completions',
    summary: 'Asks a model, in the shape of chat completions.',
    access: 'key',
    ...CHANGE,
  },
  {
    method: 'post',
    path: '/v1/messages/count_tokens',
    summary: 'Counts the tokens of a request.',
    access: 'key',
    ...CHANGE,
  },
  { method: 'get', path: '/v1/models', summary: 'Lists models.', access: 'key', ...ANSWER },
  { method: 'get', path: '/v1/models/{name}', summary: 'Tells of a model.', access: 'key', ...ANSWER },
  { method: 'get', path: '/v1/receipts', summary: 'Lists the caller’s receipts.', access: 'key', ...ANSWER },
  {
    method: 'get',
    path: '/v1/receipts/{id}',
    summary: 'Gives one of the caller’s receipts.',
    access: 'key',
    ...ANSWER,
  },
  {
    method: 'get',
    path: '/.well-known/turnpike-keys',
    summary: 'Gives the keys that sign receipts.',
    access: 'none',
    ...ANSWER,
  },
  { method: 'get', path: '/health', summary: 'Tells that the gateway is alive.', access: 'none', ...ANSWER },
  { method: 'get', path: '/ready', summary: 'Tells whether to send requests here.', access: 'none', ...ANSWER },
  {
    method: 'get',
    path: '/metrics',
    summary: 'Gives metrics in the text format of Prometheus.',
    access: 'none',
    ...ANSWER,
  },
  { method: 'get', path: '/openapi.json', summary: 'Gives this document.', access: 'none', ...ANSWER },
  {
    method: 'get',
    path: '/.well-known/mpp',
    summary: 'Tells what can be paid for, and how.',
    access: 'none',
    ...ANSWER,
  },
  {
    method: 'post',
    path: '/v1/agent/messages',
    summary: 'Asks a model, paid for by this one call.',
    access: 'payment',
    ...MESSAGE,
  },
  {
    method: 'post',
    path: '/v1/agent/quote',
    summary: 'Tells what a request would cost on the paid route.',
    access: 'none',
    body: 'MessageRequest',
    reply: 'any',
  },
  {
    method: 'post',
    path: '/v1/agent/sessions',
    summary: 'Buys several calls at once.',
    access: 'payment',
    status: '201',
    ...CHANGE,
  },
  {
    method: 'get',
    path: '/v1/agent/sessions',
    summary: 'Tells what is left of a session.',
    access: 'payment',
    ...ANSWER,
  },
  {
    method: 'get',
    path: '/v1/agent/ledger',
    summary: 'Lists what was settled, newest first.',
    access: 'none',
    ...ANSWER,
  },
  { method: 'post', path: '/v1/keys', summary: 'Makes an API key.', status: '201', ...CLOUD, ...CHANGE },
  { method: 'get', path: '/v1/keys', summary: 'Lists the user’s API keys.', ...CLOUD, ...ANSWER },
  { method: 'patch', path: '/v1/keys/{id}', summary: 'Changes an API key.', ...CLOUD, ...CHANGE },
  { method: 'delete', path: '/v1/keys/{id}', summary: 'Revokes an API key.', status: '204', ...CLOUD },
  { method: 'post', path: '/v1/billing/checkout', summary: 'Begins to buy a plan.', ...CLOUD, ...CHANGE },
  { method: 'post', path: '/v1/billing/portal', summary: 'Opens the customer portal.', ...CLOUD, ...CHANGE },
  { method: 'get', path: '/v1/billing/balance', summary: 'Tells the balance.', access: 'session', ...ANSWER },
  {
    method: 'patch',
    path: '/v1/billing/auto-recharge',
    summary: 'Sets when credits are bought by themselves.',
    ...CLOUD,
    ...CHANGE,
  },
  {
    method: 'post',
    path: '/v1/billing/webhook',
    summary: 'Takes signed events of Stripe.',
    access: 'none',
    only: 'cloud',
    ...CHANGE,
  },
]
