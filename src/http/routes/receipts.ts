import type { Context, Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import type { Receipts } from '../../journal/receipts/receipts.ts'
import { type Authenticate, authenticateRequest } from '../authentication.ts'
import { parseListLimit } from '../list-limit.ts'
import type { PayerScope } from '../payer-scope.ts'
import { limitRequests, type RequestLimits } from '../rate-limit.ts'
import type { RequestState } from '../request-context.ts'

/** Dependencies of the routes of receipts. */
export interface ReceiptRouteOptions {
  readonly authenticate: Authenticate
  readonly limits: RequestLimits
  readonly receipts: Pick<Receipts, 'keys' | 'find' | 'list' | 'log'>
  /** Returns the scope of a paying agent; unset when agent payments are off. */
  readonly payerScope?: PayerScope | undefined
}

const MOST_IN_ONE_LIST = 100
const USUAL_LIST = 20
const KEYS_ARE_FRESH_FOR = 'public, max-age=3600'

/** `GET /.well-known/turnpike-keys`: returns the public keys of receipts, a JSON Web Key Set (RFC 7517, 8037, 9864), and the signed list of them. */
export function receiptKeysRoute({ receipts }: ReceiptRouteOptions): Middleware<RequestState> {
  return async function receiptKeys(ctx) {
    ctx.set('cache-control', KEYS_ARE_FRESH_FOR)
    const { keys, note } = receipts.keys
    ctx.body = {
      keys: keys.map(({ id, raw }) => ({
        kid: id,
        kty: 'OKP',
        crv: 'Ed25519',
        alg: 'Ed25519',
        use: 'sig',
        x: raw,
        public_key: raw,
      })),
      note,
    }
  }
}

/** `GET /v1/receipts/:id`: returns a receipt of the caller; 404 for another's. */
export function receiptRoute(options: ReceiptRouteOptions): Middleware<RequestState> {
  return async function receipt(ctx) {
    const scope = await scopeOf(ctx, options)
    const id = ctx.path.slice('/v1/receipts/'.length)
    const found = await options.receipts.find(scope, id)
    if (found === undefined)
      throw new GatewayError(
        'not_found',
        'There is no such receipt of yours. Receipts are there when their reply has ended.',
      )
    ctx.body = found
  }
}

/** `GET /v1/receipts?after=<id>&limit=<count>`: lists the caller's receipts, oldest first. */
export function receiptsRoute(options: ReceiptRouteOptions): Middleware<RequestState> {
  return async function receipts(ctx) {
    const scope = await scopeOf(ctx, options)
    const { after, limit: asked } = ctx.query
    const limit = asked === undefined ? USUAL_LIST : parseListLimit(String(asked), MOST_IN_ONE_LIST)
    // One more than the page, to know whether there is a next page.
    const found = await options.receipts.list(scope, {
      after: after === undefined ? undefined : String(after),
      limit: limit + 1,
    })
    ctx.body = { data: found.slice(0, limit), has_more: found.length > limit }
  }
}

/** Returns the scope whose receipts may be read. Throws `authentication_error`, `rate_limit_error`. */
async function scopeOf(ctx: Context, options: ReceiptRouteOptions): Promise<string> {
  ctx.set('cache-control', 'private')
  const payer = await options.payerScope?.(ctx.req)
  if (payer !== undefined) return payer
  const authenticated = await authenticateRequest(ctx.req, options)
  ctx.set({ ...(await limitRequests(options.limits, authenticated.caller)) })
  return authenticated.caller.scope
}
