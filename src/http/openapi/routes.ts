import { ADMIN_ROUTES } from './admin-routes.ts'
import type { SCHEMAS } from './schemas.ts'
import { SIGN_IN_ROUTES } from './sign-in-routes.ts'

/** Credential that a route requires. */
export type Access = 'none' | 'key' | 'session' | 'payment'

/** A named schema, any JSON object, or text. */
type Schema = keyof typeof SCHEMAS | 'any' | 'form' | 'text'

/** A public route, for the documentation. */
export interface RouteEntry {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Path, with its parameters in braces. */
  readonly path: string
  readonly summary: string
  readonly access: Access
  /** The only mode that has this route; `sandbox`: with payments without money; `sign-in`: where it is configured. */
  readonly only?: 'cloud' | 'sandbox' | 'sign-in'
  /** Descriptions of the query parameters; all are optional. */
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Schema
  readonly reply?: Schema
  /** Status of success. Default: 200. */
  readonly status?: string
}

const MESSAGE = { body: 'MessageRequest', reply: 'Message' } as const
const CHAT = { body: 'ChatRequest', reply: 'ChatCompletion' } as const
const RESPONSES = { body: 'ResponsesRequest', reply: 'Response' } as const
const KEY = { access: 'key' } as const
const OPEN = { access: 'none' } as const
const PAID = { access: 'payment' } as const
const CLOUD = { access: 'session', only: 'cloud' } as const
const LIMIT = { limit: 'Page size, 1 to 100. Default 20.' }

/** All public routes; a test compares them with the served ones, and their replies with these schemas. */
export const ROUTES: readonly RouteEntry[] = [
  { method: 'post', path: '/v1/messages', summary: 'Sends a request to a model.', ...KEY, ...MESSAGE },
  {
    method: 'post',
    path: '/v1/chat/completions',
    summary: 'Sends a request to a model, in the shape of chat completions.',
    ...KEY,
    ...CHAT,
  },
  {
    method: 'post',
    path: '/v1/responses',
    summary: 'Sends a request to a model, in the shape of Responses.',
    ...KEY,
    ...RESPONSES,
  },
  {
    method: 'get',
    path: '/v1/responses/{id}',
    summary: 'Returns a stored response of the caller.',
    ...KEY,
    reply: 'Response',
  },
  {
    method: 'delete',
    path: '/v1/responses/{id}',
    summary: 'Deletes a stored response of the caller.',
    ...KEY,
    reply: 'DeletedResponse',
  },
  {
    method: 'get',
    path: '/v1/responses/{id}/input_items',
    summary: 'Lists the input of a stored response of the caller.',
    ...KEY,
    reply: 'InputItems',
    query: {
      ...LIMIT,
      order: '`asc`, or `desc` (default): the newest first.',
      after: 'The `id` after which to continue.',
    },
  },
  {
    method: 'post',
    path: '/v1/responses/{id}/cancel',
    summary: 'Cancels a response of the caller that its provider produces in the background.',
    ...KEY,
    reply: 'Response',
  },
  {
    method: 'post',
    path: '/v1/responses/compact',
    summary: 'Compacts a conversation: returns the items that replace it.',
    ...KEY,
    body: 'ResponsesRequest',
    reply: 'CompactedConversation',
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
    query: { limit: 'Page size, 1 to 1000. Default all.', after_id: 'The `id` after which to continue.' },
  },
  { method: 'get', path: '/v1/models/{name}', summary: 'Returns a model.', ...KEY, reply: 'Model' },
  {
    method: 'get',
    path: '/v1/receipts',
    summary: 'Lists the caller’s receipts, oldest first.',
    ...KEY,
    reply: 'ReceiptList',
    query: { ...LIMIT, after: 'The `id` after which to continue.' },
  },
  {
    method: 'get',
    path: '/v1/receipts/{id}',
    summary: 'Returns one of the caller’s receipts.',
    ...KEY,
    reply: 'Receipt',
  },
  {
    method: 'get',
    path: '/.well-known/turnpike-keys',
    summary: 'Returns the public keys of receipts.',
    ...OPEN,
    reply: 'ReceiptKeys',
  },
  {
    method: 'get',
    path: '/.well-known/turnpike-ledger',
    summary: 'Returns the latest signed head of the ledger of receipts.',
    ...OPEN,
    reply: 'LedgerHead',
  },
  {
    method: 'get',
    path: '/v1/ledger/inclusion',
    summary: 'Proves that the ledger has a leaf.',
    ...OPEN,
    reply: 'InclusionProof',
    query: { leaf: 'Index of the leaf, from 0. Required.' },
  },
  {
    method: 'get',
    path: '/v1/ledger/consistency',
    summary: 'Proves that the ledger has only grown.',
    ...OPEN,
    reply: 'ConsistencyProof',
    query: { from: 'Number of leaves of the earlier head. Required.' },
  },
  { method: 'get', path: '/health', summary: 'Reports that the gateway is alive.', ...OPEN, reply: 'Health' },
  { method: 'get', path: '/ready', summary: 'Reports whether to send requests here.', ...OPEN, reply: 'Ready' },
  {
    method: 'get',
    path: '/metrics',
    summary: 'Returns metrics in the text format of Prometheus.',
    ...OPEN,
    reply: 'text',
  },
  { method: 'get', path: '/openapi.json', summary: 'Returns this document.', ...OPEN, reply: 'any' },
  { method: 'get', path: '/llms.txt', summary: 'Describes this instance for language models.', ...OPEN, reply: 'text' },
  {
    method: 'get',
    path: '/.well-known/mpp',
    summary: 'Returns prices and payment methods.',
    ...OPEN,
    reply: 'Discovery',
  },
  {
    method: 'post',
    path: '/v1/agent/messages',
    summary: 'Sends a request to a model, paid per call.',
    ...PAID,
    ...MESSAGE,
  },
  {
    method: 'post',
    path: '/v1/agent/quote',
    summary: 'Returns the cost of a request on the paid route.',
    ...OPEN,
    body: 'MessageRequest',
    reply: 'Quote',
  },
  {
    method: 'post',
    path: '/v1/agent/sessions',
    summary: 'Buys a prepaid session of several calls.',
    ...PAID,
    status: '201',
    body: 'SessionOrder',
    reply: 'OpenedSession',
  },
  {
    method: 'get',
    path: '/v1/agent/sessions',
    summary: 'Returns the remaining calls of a prepaid session.',
    ...PAID,
    reply: 'Session',
  },
  {
    method: 'get',
    path: '/v1/agent/ledger',
    summary: 'Lists settled payments, newest first.',
    ...OPEN,
    reply: 'SettledList',
    query: { ...LIMIT, cursor: 'The `next_cursor` of the previous page.' },
  },
  {
    method: 'post',
    path: '/v1/agent/sandbox/tokens',
    summary: 'Grants a token that pays in the sandbox; no money moves.',
    ...OPEN,
    only: 'sandbox',
    status: '201',
    body: 'SandboxOrder',
    reply: 'SandboxToken',
  },
  {
    method: 'post',
    path: '/v1/keys',
    summary: 'Creates an API key.',
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
    path: '/v1/keys/{id}/rotate',
    summary: 'Gives an API key a new secret; the one before works for the overlap.',
    ...CLOUD,
    body: 'KeyRotation',
    reply: 'KeyWithSecret',
  },
  ...ADMIN_ROUTES,
  ...SIGN_IN_ROUTES,
  {
    method: 'post',
    path: '/v1/billing/checkout',
    summary: 'Creates a checkout page for a plan.',
    ...CLOUD,
    body: 'Checkout',
    reply: 'Page',
  },
  {
    method: 'post',
    path: '/v1/billing/portal',
    summary: 'Creates a customer portal page.',
    ...CLOUD,
    body: 'Portal',
    reply: 'Page',
  },
  { method: 'get', path: '/v1/billing/balance', summary: 'Returns the balance.', access: 'session', reply: 'Balance' },
  {
    method: 'patch',
    path: '/v1/billing/auto-recharge',
    summary: 'Configures automatic recharging of credits.',
    ...CLOUD,
    body: 'AutoRecharge',
    reply: 'Balance',
  },
  {
    method: 'post',
    path: '/v1/billing/webhook',
    summary: 'Receives signed events of Stripe.',
    ...OPEN,
    only: 'cloud',
    body: 'any',
    reply: 'any',
  },
]
