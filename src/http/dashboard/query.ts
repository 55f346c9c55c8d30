import type { Context } from 'koa'
import { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'

/** A whole number from 0, as a query has it. */
export const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, { error: 'expected a whole number' })
  .transform(Number)

/** How many are asked for, of at most 500. */
export const MOST_IN_ONE_LIST = 500
export const limit = wholeNumber.pipe(z.int().min(1).max(MOST_IN_ONE_LIST)).default(100)

/** Reads a query strictly. Throws `invalid_request` that names the member, and what was expected. */
export function readQuery<T>(schema: z.ZodType<T>, ctx: Context): T {
  const parsed = schema.safeParse({ ...ctx.query })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new GatewayError('invalid_request', `${issue?.path.join('.')}: ${issue?.message}.`)
}
