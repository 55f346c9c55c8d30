import { z } from 'zod'
import { type AutoRecharge, CREDITS_PER_CENT, CREDITS_PER_USD } from '../../core/ports/billing.ts'
import { describeObject, parseFields } from '../../core/request/parse-fields.ts'

const SMALLEST = 5 * CREDITS_PER_USD
const LARGEST = 2000 * CREDITS_PER_USD
const LARGEST_MONTH = 20_000 * CREDITS_PER_USD

/** Defaults of an account without settings: 10 USD when less than 1 USD is left, at most 100 USD a month. */
export const AUTO_RECHARGE_DEFAULTS: AutoRecharge = {
  enabled: false,
  thresholdCredits: CREDITS_PER_USD,
  amountCredits: 10 * CREDITS_PER_USD,
  monthlyLimitCredits: 100 * CREDITS_PER_USD,
  disabledReason: null,
}

const isWholeCents = (credits: number): boolean => credits % CREDITS_PER_CENT === 0

/** Longest address or id; Stripe's own are shorter. */
const LONGEST_ADDRESS = 2000

const address = z.string().max(LONGEST_ADDRESS).optional()

/** The body of `POST /v1/billing/checkout`. */
export const checkoutFields = z.strictObject(
  { tier: z.enum(['pro', 'team']), successUrl: address, cancelUrl: address },
  { error: describeObject },
)

/** The body of `POST /v1/billing/portal`. */
export const portalFields = z.strictObject({ returnUrl: address }, { error: describeObject })

/** The body of `PATCH /v1/billing/auto-recharge`: members of the balance record. */
export const autoRechargeFields = z
  .strictObject(
    {
      autoRechargeEnabled: z.boolean().optional(),
      autoRechargeThreshold: z.int().min(0).max(LARGEST).optional(),
      autoRechargeAmount: z
        .int()
        .min(SMALLEST)
        .max(LARGEST)
        .refine(isWholeCents, `expected whole cents, a multiple of ${CREDITS_PER_CENT} credits`)
        .optional(),
      autoRechargeMonthlyLimit: z.int().min(SMALLEST).max(LARGEST_MONTH).optional(),
    },
    { error: describeObject },
  )
  .refine((change) => Object.keys(change).length > 0, 'expected at least one member, e.g. `autoRechargeEnabled`')

/**
 * Checks the body of `PATCH /v1/billing/auto-recharge`, members of the balance record, and merges it into the current
 * settings. Throws `invalid_request`.
 */
export function parseAutoRecharge(body: unknown, present: AutoRecharge): Omit<AutoRecharge, 'disabledReason'> {
  const change = parseFields(autoRechargeFields, body)
  return {
    enabled: change.autoRechargeEnabled ?? present.enabled,
    thresholdCredits: change.autoRechargeThreshold ?? present.thresholdCredits,
    amountCredits: change.autoRechargeAmount ?? present.amountCredits,
    monthlyLimitCredits: change.autoRechargeMonthlyLimit ?? present.monthlyLimitCredits,
  }
}
