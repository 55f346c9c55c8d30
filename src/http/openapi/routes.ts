import type { SCHEMAS } from './schemas.ts'

/** What a route asks its callers for. */
export type Access = 'none' | 'key' | 'session' | 'payment'

/** A named schema; any JSON object; text. */
type Schema = keyof typeof SCHEMAS | 'any' | 'text'

/** A public route, as its documentation tells it. */
export interface RouteEntry {
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  /** With its parameters in braces. */
  readonly path: string
  readonly summary: string
  readonly access: Access
  /** Only in this mode. */
  readonly only?: 'cloud'
  /** What parameters of the query mean; none is required. */
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Schema
  readonly reply?: Schema
  /** Of success; default 200. */
  readonly status?: string
}

const MESSAGE = { body: 'MessageRequest', reply: 'Message' } as const
const CHAT = { body: 'ChatRequest', reply: 'ChatCompletion' } as const
const KEY = { access: 'key' } as const
const OPEN = { access: 'none' } as const
const PAID = { access: 'payment' } as const
const CLOUD = { access: 'session', only: 'cloud' } as const
const LIMIT = { limit: 'How many, 1 to 100. Default 20.' }

/** Every public route; a test holds them against those that are served, and their replies against these schemas. */
export const ROUTES: readonly RouteEntry[] = [
  { method: 'post', path: '/v1/messages', summary: 'Asks a model.', ...KEY, ...MESSAGE },
  {
    method: 'post',
    path: '/v1/chat/completions',
    summary: 'Asks a model, in the shape of chat completions.',
    ...KEY,
    ...CHAT,
  },
  {
    method: 'post',
    path: '/v1/messages/count_tokens',
    summary: 'Counts the tokens of a request.',
    ...KEY,
    body: 'MessageRequest',
    reply: 'TokenCount',
  },
  {
    method: 'get',
    path: '/v1/models',
    summary: 'Lists models.',
    ...KEY,
    reply: 'ModelList',
    query: { limit: 'How many, 1 to 1000. Default all.', after_id: 'The `id` after which to go on.' },
  },
  { method: 'get', path: '/v1/models/{name}', summary: 'Tells of a model.', ...KEY, reply: 'Model' },
  {
    method: 'get',
    path: '/v1/receipts',
    summary: 'Lists the caller’s receipts, oldest first.',
    ...KEY,
    reply: 'ReceiptList',
    query: { ...LIMIT, after: 'The `id` after which to go on.' },
  },
  {
    method: 'get',
    path: '/v1/receipts/{id}',
    summary: 'Gives one of the caller’s receipts.',
    ...KEY,
    reply: 'Receipt',
  },
  {
    method: 'get',
    path: '/.well-known/turnpike-keys',
    summary: 'Gives the keys that sign receipts.',
    ...OPEN,
    reply: 'ReceiptKeys',
  },
  { method: 'get', path: '/health', summary: 'Tells that the gateway is alive.', ...OPEN, reply: 'Health' },
  {
    method: 'get',
    path: '/metrics',
    summary: 'Gives metrics in the text format of Prometheus, to whoever may read them.',
    ...OPEN,
    reply: 'text',
  },
  { method: 'get', path: '/openapi.json', summary: 'Gives this document.', ...OPEN, reply: 'any' },
  { method: 'get', path: '/llms.txt', summary: 'Tells models that read what is here.', ...OPEN, reply: 'text' },
  {
    method: 'get',
    path: '/.well-known/mpp',
    summary: 'Tells what can be paid for, and how.',
    ...OPEN,
    reply: 'Discovery',
  },
  {
    method: 'post',
    path: '/v1/agent/messages',
    summary: 'Asks a model, paid for by this one call.',
    ...PAID,
    ...MESSAGE,
  },
  {
    method: 'post',
    path: '/v1/agent/quote',
    summary: 'Tells what a request would cost on the paid route.',
    ...OPEN,
    body: 'MessageRequest',
    reply: 'Quote',
  },
  {
    method: 'post',
    path: '/v1/agent/sessions',
    summary: 'Buys several calls at once.',
    ...PAID,
    status: '201',
    body: 'SessionOrder',
    reply: 'OpenedSession',
  },
  { method: 'get', path: '/v1/agent/sessions', summary: 'Tells what is left of a session.', ...PAID, reply: 'Session' },
  {
    method: 'get',
    path: '/v1/agent/ledger',
    summary: 'Lists what was settled, newest first.',
    ...OPEN,
    reply: 'SettledList',
    query: { ...LIMIT, cursor: 'The `next_cursor` of the page before.' },
  },
  {
    method: 'post',
    path: '/v1/keys',
    summary: 'Makes an API key.',
    status: '201',
    ...CLOUD,
    body: 'NewKey',
    reply: 'CreatedKey',
  },
  { method: 'get', path: '/v1/keys', summary: 'Lists the user’s API keys.', ...CLOUD, reply: 'KeyList' },
  {
    method: 'patch',
    path: '/v1/keys/{id}',
    summary: 'Changes an API key.',
    ...CLOUD,
    body: 'KeyChange',
    reply: 'ChangedKey',
  },
  { method: 'delete', path: '/v1/keys/{id}', summary: 'Revokes an API key.', status: '204', ...CLOUD },
  {
    method: 'post',
    path: '/v1/billing/checkout',
    summary: 'Begins to buy a plan.',
    ...CLOUD,
    body: 'Checkout',
    reply: 'Page',
  },
  {
    method: 'post',
    path: '/v1/billing/portal',
    summary: 'Opens the customer portal.',
    ...CLOUD,
    body: 'Portal',
    reply: 'Page',
  },
  { method: 'get', path: '/v1/billing/balance', summary: 'Tells the balance.', access: 'session', reply: 'Balance' },
  {
    method: 'patch',
    path: '/v1/billing/auto-recharge',
    summary: 'Sets when credits are bought by themselves.',
    ...CLOUD,
    body: 'AutoRecharge',
    reply: 'Balance',
  },
  {
    method: 'post',
    path: '/v1/billing/webhook',
    summary: 'Takes signed events of Stripe.',
    ...OPEN,
    only: 'cloud',
    body: 'any',
    reply: 'any',
  },
]
