import type { IncomingHttpHeaders } from 'node:http'
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

/** State of a request, in `ctx.state`. */
export interface RequestState {
  requestId: string
  /** Set by the message routes. */
  exchange?: Exchange
  /** Set by routes that authenticate callers, before they read the body. */
  partialRequest?: PartialRequest
  /** The dialect of error replies. Default: that of the specification. */
  dialect?: ClientDialect
  /** The route's pattern, when it was matched without the router. */
  route?: string
  /** True once the connection is a WebSocket. */
  isTakenOver?: boolean
}

/** Shorter paths contain no secret, so that of messages is not searched. */
const LONGEST_SHOWN_PATH = 16

/** Observers of requests. */
export interface RequestContextOptions {
  /** Called when a request has arrived. */
  readonly enter: () => void
  /** Called when its reply has ended. */
  readonly observe: RequestObserver
}

/**
 * Creates the outermost middleware: assigns the request id, renders errors, notifies observers when the reply has
 * ended.
 */
export function createRequestContext({ enter, observe }: RequestContextOptions): Middleware<RequestState> {
  return async function frame(ctx, next) {
    const startedAtMs = performance.now()
    const requestId = createRequestId()
    enter()
    ctx.state.requestId = requestId
    let error: unknown
    const hide = hiderOf(ctx.req.headers)
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
        endedAtMs: Date.now(),
        delivered: ctx.res.writableFinished || ctx.state.isTakenOver === true,
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

/** Returns a function that hides the credentials of these headers. It refers to nothing else of a request: it is kept with the record. */
function hiderOf(headers: IncomingHttpHeaders): (text: string) => string {
  return (text) => hideSecrets(text, presentedSecrets(headers))
}

/** Returns the matched pattern, which the router sets in the context. */
function routeOf({ state, _matchedRoute: matched }: ParameterizedContext<RequestState> & { _matchedRoute?: unknown }) {
  return state.route ?? (typeof matched === 'string' ? matched : undefined)
}

/** Throws for Koa's empty 404 of an unknown path, and the router's empty 405 or 501 of a wrong method. */
function assertFound(ctx: Context): void {
  if (ctx.respond === false || ctx.body !== undefined) return
  if (ctx.status === 404) throw new GatewayError('not_found', `There is nothing at ${ctx.method} ${ctx.path}.`)
  if (ctx.status !== 405 && ctx.status !== 501) return
  const allow = ctx.response.get('allow')
  throw new GatewayError('method_not_allowed', `${ctx.path} takes ${allow}, got ${ctx.method}.`, { headers: { allow } })
}

/**
 * Sends an error in the shape of the specification, section 2.9. Other errors than `GatewayError` are not shown to the
 * client.
 */
function sendError(
  ctx: Context,
  thrown: unknown,
  { requestId, hide }: { requestId: string; hide: (text: string) => string },
): void {
  const { res } = ctx
  ctx.respond = false
  if (res.headersSent || res.destroyed) return void res.destroy()
  // Safe: the state that this middleware has set.
  const { dialect } = ctx.state as RequestState
  const own = toGatewayError(thrown)
  const error = dialect?.forClient?.(own) ?? own
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
