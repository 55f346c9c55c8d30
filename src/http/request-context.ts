import { performance } from 'node:perf_hooks'
import type { Context, Middleware, ParameterizedContext } from 'koa'
import { GatewayError } from '../core/errors.ts'
import type { RequestObserver } from '../core/ports/request-record.ts'
import type { Exchange } from '../core/request/exchange.ts'
import type { PartialRequest } from '../core/request/partial-request.ts'
import { hideSecrets } from '../core/secrets.ts'
import type { ClientDialect } from '../dialects/client-dialect.ts'
import { onClosed } from './client-disconnect.ts'
import { presentedSecrets } from './credential.ts'
import { lingerAfterReply } from './linger.ts'
import { createRequestId, requestIdHeaders } from './request-id.ts'

/** What the frame keeps for a request, in `ctx.state`. */
export interface RequestState {
  requestId: string
  /** Set by the message routes. */
  exchange?: Exchange
  /** Set by routes that authenticate callers, before they read anything of the request. */
  partialRequest?: PartialRequest
  /** The shape in which the client reads errors; that of the specification unless a route says another. */
  dialect?: ClientDialect
  /** The route, where it was found without the router. */
  route?: string
}

/** Shorter ones hold no secret: the path of messages need not be looked at. */
const LONGEST_SHOWN_PATH = 16

/** Who is told of requests. */
export interface RequestContextOptions {
  /** One has come. */
  readonly enter: () => void
  /** Its reply has ended. */
  readonly observe: RequestObserver
}

/**
 * The outermost middleware: gives the request an id, renders errors, and tells the observers once the reply has ended.
 */
export function createRequestContext({ enter, observe }: RequestContextOptions): Middleware<RequestState> {
  return async function frame(ctx, next) {
    const startedAtMs = performance.now()
    const requestId = createRequestId()
    enter()
    ctx.state.requestId = requestId
    let error: unknown
    const hide = (text: string) => hideSecrets(text, presentedSecrets(ctx.req.headers))
    onClosed(ctx.res, () => {
      observe({
        exchange: ctx.state.exchange,
        partialRequest: ctx.state.partialRequest,
        requestId,
        method: ctx.method,
        path: ctx.path.length > LONGEST_SHOWN_PATH ? hide(ctx.path) : ctx.path,
        route: routeOf(ctx),
        status: ctx.res.statusCode,
        durationMs: performance.now() - startedAtMs,
        delivered: ctx.res.writableFinished,
        error,
        hide,
      })
    })
    try {
      await next()
      assertFound(ctx)
      if (ctx.respond === false) return
      ctx.set(requestIdHeaders(requestId))
      if (ctx.res.getHeader('cache-control') === undefined) ctx.set('cache-control', 'no-store')
      lingerAfterReply(ctx.res)
    } catch (thrown) {
      error = thrown
      sendError(ctx, thrown, { requestId, hide })
    }
  }
}

/** The router leaves the pattern that it has matched in the context. */
function routeOf({ state, _matchedRoute: matched }: ParameterizedContext<RequestState> & { _matchedRoute?: unknown }) {
  return state.route ?? (typeof matched === 'string' ? matched : undefined)
}

/** Koa answers an unknown path with an empty 404, and the router a wrong method with an empty 405 or 501. */
function assertFound(ctx: Context): void {
  if (ctx.respond === false || ctx.body !== undefined) return
  if (ctx.status === 404) throw new GatewayError('not_found', `There is nothing at ${ctx.method} ${ctx.path}.`)
  if (ctx.status !== 405 && ctx.status !== 501) return
  const allow = ctx.response.get('allow')
  throw new GatewayError('method_not_allowed', `${ctx.path} takes ${allow}, got ${ctx.method}.`, { headers: { allow } })
}

/** Sends an error in the shape of the specification, section 2.9. What is not a `GatewayError` stays inside. */
function sendError(
  ctx: Context,
  thrown: unknown,
  { requestId, hide }: { requestId: string; hide: (text: string) => string },
): void {
  const { res } = ctx
  ctx.respond = false
  if (res.headersSent || res.destroyed) return void res.destroy()
  const error = toGatewayError(thrown)
  // Safe: the frame's own state.
  const { dialect } = ctx.state as RequestState
  const shown = dialect?.errorBody(error, requestId) ?? { ...error.toBody(), request_id: requestId }
  const body = Buffer.from(hide(JSON.stringify(shown)))
  lingerAfterReply(res)
  for (const name in error.headers) res.setHeader(name, error.headers[name] ?? '')
  res.writeHead(error.status, {
    ...requestIdHeaders(requestId),
    'cache-control': 'no-store',
    'content-type': 'application/json',
    'content-length': body.length,
  })
  res.end(ctx.method === 'HEAD' ? undefined : body)
}

function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  return new GatewayError('internal_error', 'The gateway failed; its log has the reason under this request id.', {
    cause: thrown,
  })
}
