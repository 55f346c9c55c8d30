import type { Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'

/**
 * Reply of `GET /v1/billing/balance` in local mode. The specification requires both a local record (2.5, 4.11) and 503
 * for every billing route; a client can use the record, so the route returns that.
 */
const LOCAL_BALANCE = {
  tier: 'local',
  credits: 0,
  currentPeriodEnd: null,
  autoRechargeEnabled: false,
  upgradeUrl: null,
  local: true,
}

/** The balance of local mode. */
export const localBalance: Middleware = function localBalance(ctx) {
  ctx.body = LOCAL_BALANCE
}

/** Refuses key management in local mode, where any credential is a key. */
export const keysUnavailable: Middleware = function keysUnavailable() {
  throw new GatewayError(
    'unavailable_in_mode',
    'Keys cannot be managed in local mode: any credential is accepted as a key.',
  )
}

/** Refuses billing in local mode. */
export const billingUnavailable: Middleware = function billingUnavailable() {
  throw new GatewayError('unavailable_in_mode', 'There is no billing in local mode.', { detail: 'billing_local_mode' })
}
