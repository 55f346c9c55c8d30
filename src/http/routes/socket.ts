import type { Middleware, ParameterizedContext } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import type { PartialRequest } from '../../core/request/partial-request.ts'
import type { ClientDialect } from '../../dialects/client-dialect.ts'
import { type Authenticate, authenticateRequest } from '../authentication.ts'
import { limitRequests, type RequestLimits } from '../rate-limit.ts'
import type { RequestState } from '../request-context.ts'
import type { ResponseSockets } from '../sockets/sockets.ts'
import { takeOver, upgradeOf } from '../sockets/upgrades.ts'

/** Dependencies of the WebSocket of Responses. */
export interface SocketRouteOptions {
  readonly authenticate: Authenticate
  readonly limits: RequestLimits
  readonly dialect: ClientDialect
  readonly sockets: ResponseSockets
}

const UPGRADE_REQUIRED = 426

/**
 * `/v1/responses` without POST: opens the WebSocket of OpenAI's clients. Where there is none they are to use HTTP: they do so at
 * once after a 426, and after several attempts with any other status.
 */
export function socketRoute(options: SocketRouteOptions): Middleware<RequestState> {
  const { dialect, sockets } = options
  return async function socket(ctx) {
    ctx.state.dialect = dialect
    const upgrade = upgradeOf(ctx.req)
    if (upgrade === undefined || sockets.isOff) throw refusal(ctx)
    const partialRequest: PartialRequest = {}
    ctx.state.partialRequest = partialRequest
    const { caller } = await authenticateRequest(ctx.req, { ...options, partialRequest })
    ctx.set(await limitRequests(options.limits, caller))
    await sockets.accept(upgrade, { scope: caller.scope, path: ctx.url, server: upgrade.server }, () => {
      ctx.respond = false
      ctx.state.isTakenOver = true
      takeOver(upgrade, ctx.res)
    })
  }
}

function refusal({ req }: ParameterizedContext): GatewayError {
  const wantsSocket = req.headers.upgrade?.toLowerCase() === 'websocket'
  return new GatewayError('method_not_allowed', 'Responses are sent over HTTP here: use POST.', {
    ...(wantsSocket && { status: UPGRADE_REQUIRED }),
    headers: { allow: 'POST', ...(wantsSocket && { upgrade: 'HTTP/1.1' }) },
  })
}
