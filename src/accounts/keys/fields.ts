import { z } from 'zod'
import { describeObject } from '../../core/request/parse-fields.ts'

const LONGEST_NAME = 120
const LONGEST_PIPELINE = 8000
const MOST_LISTED = 100
const LONGEST_LISTED = 200
const MOST_USD = 1_000_000
const MOST_REQUESTS = 1_000_000

/** Control characters and lone surrogates, which databases refuse. */
const NOT_TEXT = /[\p{Cc}\p{Cs}]/u

function textOf(most: number) {
  const expected = `expected a text of at most ${most} characters`
  return z
    .string({ error: expected })
    .max(most, { error: expected })
    .refine((text) => !NOT_TEXT.test(text), { error: `${expected}, without control characters` })
}

const usd = z
  .number({ error: `expected an amount in USD from 0 to ${MOST_USD}` })
  .min(0, { error: `expected an amount in USD from 0 to ${MOST_USD}` })
  .max(MOST_USD, { error: `expected an amount in USD from 0 to ${MOST_USD}` })
  .optional()

const names = z
  .array(textOf(LONGEST_LISTED), { error: `expected a list of at most ${MOST_LISTED} names` })
  .max(MOST_LISTED, { error: `expected a list of at most ${MOST_LISTED} names` })
  .optional()

const limits = z
  .strictObject(
    {
      costPerRequest: usd,
      costPerDay: usd,
      costPerMonth: usd,
      requestsPerMinute: z
        .int({ error: `expected a whole number from 1 to ${MOST_REQUESTS}` })
        .min(1, { error: `expected a whole number from 1 to ${MOST_REQUESTS}` })
        .max(MOST_REQUESTS, { error: `expected a whole number from 1 to ${MOST_REQUESTS}` })
        .optional(),
      models: names,
      modules: names,
    },
    { error: describeObject },
  )
  .nullable()
  .optional()

const name = textOf(LONGEST_NAME).optional()
const pipelineConfig = textOf(LONGEST_PIPELINE)

/** The body of `POST /v1/keys`. */
export const newKeyFields = z.strictObject(
  { name, pipelineConfig: pipelineConfig.optional(), limits },
  { error: describeObject },
)

/** The body of `PATCH /v1/keys/:id`. */
export const keyChangeFields = z.strictObject(
  { name, pipelineConfig: pipelineConfig.nullable().optional(), limits },
  { error: describeObject },
)
