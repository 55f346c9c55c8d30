import type { Context } from 'koa'
import { z } from 'zod'
import { parseFields } from '../../core/request/parse-fields.ts'

/** Parses a whole number from 0 in a query. */
export const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, { error: 'expected a whole number' })
  .transform(Number)

/** Parses the page size, at most 500. */
export const MOST_IN_ONE_LIST = 500
export const limit = wholeNumber.pipe(z.int().min(1).max(MOST_IN_ONE_LIST)).default(100)

/** Parses a query strictly. Throws `invalid_request` that names the member and the expected value. */
export function readQuery<Schema extends z.ZodType>(schema: Schema, ctx: Context): z.output<Schema> {
  return parseFields(schema, { ...ctx.query })
}
