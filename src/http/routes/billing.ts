import type { Context, Middleware } from 'koa'
import type { Billing } from '../../commerce/billing/billing.ts'
import {
  AUTO_RECHARGE_DEFAULTS,
  checkoutFields,
  parseAutoRecharge,
  portalFields,
} from '../../commerce/billing/billing-request.ts'
import { type ReturnAddresses, returnAddress } from '../../commerce/billing/return-address.ts'
import type { Balance } from '../../core/ports/billing.ts'
import { parseFields } from '../../core/request/parse-fields.ts'
import type { Intakes } from '../body-intake.ts'
import { clientSubnet } from '../client-subnet.ts'
import { readControlBody } from '../control-body.ts'
import type { RequestState } from '../request-context.ts'
import type { ReadSession } from '../session.ts'

/** Dependencies of the routes of billing. */
export interface BillingRouteOptions extends BillingRouteParts {
  readonly intakes: Intakes
}

/** Operations on accounts that the routes of billing need. */
export interface BillingRouteParts {
  readonly billing: Billing
  readonly session: ReadSession
  readonly addresses: ReturnAddresses
}

const WEBHOOK_LIMIT_BYTES = 256 * 1024

/** `POST /v1/billing/checkout`: creates a checkout page for a plan. */
export function checkoutRoute({ billing, session, addresses, intakes }: BillingRouteOptions): Middleware<RequestState> {
  return async function checkout(ctx) {
    const { userId } = await session(ctx)
    const { tier, ...wished } = parseFields(
      checkoutFields,
      await readControlBody(ctx.req, { intake: intakes.callers, sender: userId }),
    )
    const home = homeOf(ctx, addresses)
    const successUrl = returnAddress('successUrl', wished.successUrl ?? home, { addresses, home })
    const cancelUrl = returnAddress('cancelUrl', wished.cancelUrl ?? home, { addresses, home })
    ctx.body = await billing.checkOut({ accountId: userId, tier, successUrl, cancelUrl })
  }
}

/** `POST /v1/billing/portal`: creates a customer portal page. The body is optional. */
export function portalRoute({ billing, session, addresses, intakes }: BillingRouteOptions): Middleware<RequestState> {
  return async function portal(ctx) {
    const { userId } = await session(ctx)
    const wished = parseFields(
      portalFields,
      await readControlBody(ctx.req, { intake: intakes.callers, sender: userId }),
    )
    const home = homeOf(ctx, addresses)
    const returnUrl = returnAddress('returnUrl', wished.returnUrl ?? home, { addresses, home })
    ctx.body = await billing.openPortal({ accountId: userId, returnUrl })
  }
}

/** `GET /v1/billing/balance`: returns plan, credits and auto-recharge. */
export function balanceRoute({ billing, session, addresses }: BillingRouteOptions): Middleware<RequestState> {
  return async function balance(ctx) {
    const { userId } = await session(ctx)
    ctx.body = toRecord(await billing.balance(userId), homeOf(ctx, addresses))
  }
}

/** `PATCH /v1/billing/auto-recharge`: configures automatic recharging. Returns the balance record. */
export function autoRechargeRoute({
  billing,
  session,
  addresses,
  intakes,
}: BillingRouteOptions): Middleware<RequestState> {
  return async function autoRecharge(ctx) {
    const { userId } = await session(ctx)
    const body = await readControlBody(ctx.req, { intake: intakes.callers, sender: userId })
    const { autoRecharge: present = AUTO_RECHARGE_DEFAULTS } = await billing.balance(userId)
    await billing.setAutoRecharge(userId, parseAutoRecharge(body, present))
    ctx.body = toRecord(await billing.balance(userId), homeOf(ctx, addresses))
  }
}

/** `POST /v1/billing/webhook`: receives events of Stripe. The signature is verified over the raw bytes. */
export function webhookRoute({ billing, intakes }: BillingRouteOptions): Middleware<RequestState> {
  return async function webhook(ctx) {
    const body = await intakes.strangers.read(ctx.req, {
      sender: clientSubnet(ctx.req.socket.remoteAddress),
      limitBytes: WEBHOOK_LIMIT_BYTES,
    })
    await billing.takeWebhook({ body, signature: ctx.get('stripe-signature') })
    ctx.body = { received: true }
  }
}

/**
 * Returns the record of the specification, section 2.5, with the limit of recharging and the reason if it is switched
 * off.
 */
function toRecord({ tier, credits, periodEndMs, autoRecharge }: Balance, home: string): Record<string, unknown> {
  const set = autoRecharge ?? AUTO_RECHARGE_DEFAULTS
  const isFree = tier === 'free'
  return {
    tier,
    credits,
    currentPeriodEnd: periodEndMs === null ? null : new Date(periodEndMs).toISOString(),
    autoRechargeEnabled: set.enabled && !isFree,
    ...(!isFree && {
      autoRechargeThreshold: set.thresholdCredits,
      autoRechargeAmount: set.amountCredits,
      autoRechargeMonthlyLimit: set.monthlyLimitCredits,
      autoRechargeDisabledReason: set.disabledReason,
    }),
    upgradeUrl: isFree ? home : null,
  }
}

/** Returns the dashboard's URL; by default that of this process. */
function homeOf(ctx: Context, { dashboardUrl }: ReturnAddresses): string {
  return dashboardUrl ?? `http://localhost:${ctx.req.socket.localPort}/dashboard`
}
