import { z } from 'zod'

const usd = z.number().min(0).max(1_000_000)
const factor = z.number().min(0).max(1000)

const tokenPrices = {
  input: usd,
  output: usd,
  cache_read: usd.optional(),
  cache_write_5m: usd.optional(),
  cache_write_1h: usd.optional(),
}

const longContextSchema = z.strictObject({ above: z.int().min(1), ...tokenPrices })

const entrySchema = z
  .strictObject({
    model: z.string().min(1).optional(),
    pattern: z
      .string()
      .min(1)
      .transform((text, ctx) => {
        try {
          return { text, whole: new RegExp(`^(?:${text})$`) }
        } catch {
          ctx.addIssue({ code: 'custom', message: 'expected a regular expression' })
          return z.NEVER
        }
      })
      .optional(),
    provider: z.string().min(1).optional(),
    same_as: z
      .string()
      .regex(/^[^/]+\/.+$/, 'expected `provider/model`')
      .optional(),
    ...tokenPrices,
    input: usd.optional(),
    output: usd.optional(),
    long_context: z.array(longContextSchema).optional(),
    web_search: usd.optional(),
    web_fetch: usd.optional(),
    call: usd.optional(),
    factor: factor.optional(),
    factors: z.record(z.string(), factor).optional(),
  })
  .superRefine((entry, ctx) => {
    const fault = (path: string, message: string) => ctx.addIssue({ code: 'custom', path: [path], message })
    if ((entry.model === undefined) === (entry.pattern === undefined))
      fault('model', 'expected either `model` or `pattern`')
    if ((entry.input === undefined) !== (entry.output === undefined))
      fault('input', 'expected `input` and `output` together')
    if (entry.same_as !== undefined && entry.input !== undefined)
      fault('same_as', 'expected either `same_as` or prices of tokens')
    if (entry.input !== undefined) return
    for (const name of ['cache_read', 'cache_write_5m', 'cache_write_1h', 'long_context'] as const)
      if (entry[name] !== undefined) fault(name, 'expected `input` and `output` beside it')
  })

/** Schema of the operator's price file. Its fields are explained in `config/prices.yaml`. */
export const overridesSchema = z.strictObject({ models: z.array(entrySchema).default([]) })

/** The operator's prices, in USD as configured. */
export type PriceOverrides = z.output<typeof overridesSchema>

/** The operator's prices of one or several models. */
export type PriceEntry = PriceOverrides['models'][number]

/** Returns the fields of an object in the file, by its path. */
export function fieldsAt(path: readonly PropertyKey[]): string[] {
  if (path.length === 0) return Object.keys(overridesSchema.shape)
  return Object.keys(path.includes('long_context') ? longContextSchema.shape : entrySchema.shape)
}
