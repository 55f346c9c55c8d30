import type { Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'

const UPGRADE_REQUIRED = 426

/**
 * `/v1/responses` without POST: refuses the WebSocket of OpenAI's clients, which then send the same request over HTTP. They do so at
 * once after a 426, and after several attempts with any other status.
 */
export const noSocketRoute: Middleware = function noSocket({ req }) {
  const wantsSocket = req.headers.upgrade?.toLowerCase() === 'websocket'
  throw new GatewayError('method_not_allowed', 'Responses are sent over HTTP alone here: use POST.', {
    ...(wantsSocket && { status: UPGRADE_REQUIRED }),
    headers: { allow: 'POST', ...(wantsSocket && { upgrade: 'HTTP/1.1' }) },
  })
}
