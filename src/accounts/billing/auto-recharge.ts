import { z } from 'zod'
import { type AutoRecharge, CREDITS_PER_CENT, CREDITS_PER_USD } from '../../core/billing.ts'

const SMALLEST = 5 * CREDITS_PER_USD
const LARGEST = 2000 * CREDITS_PER_USD
const LARGEST_MONTH = 20_000 * CREDITS_PER_USD

/** What holds for an account that has set nothing: 10 USD when less than 1 USD is left, at most 100 USD a month. */
export const AUTO_RECHARGE_DEFAULTS: AutoRecharge = {
  enabled: false,
  thresholdCredits: CREDITS_PER_USD,
  amountCredits: 10 * CREDITS_PER_USD,
  monthlyLimitCredits: 100 * CREDITS_PER_USD,
  disabledReason: null,
}

const isWholeCents = (credits: number): boolean => credits % CREDITS_PER_CENT === 0

/** The body of `PATCH /v1/billing/auto-recharge`: members of the balance record, at least one. */
export const autoRechargeSchema = z
  .strictObject({
    autoRechargeEnabled: z.boolean().optional(),
    autoRechargeThreshold: z.int().min(0).max(LARGEST).optional(),
    autoRechargeAmount: z
      .int()
      .min(SMALLEST)
      .max(LARGEST)
      .refine(isWholeCents, `expected whole cents, a multiple of ${CREDITS_PER_CENT} credits`)
      .optional(),
    autoRechargeMonthlyLimit: z.int().min(SMALLEST).max(LARGEST_MONTH).optional(),
  })
  .refine((wish) => Object.keys(wish).length > 0, 'expected at least one member, e.g. `autoRechargeEnabled`')
