import { z } from 'zod'
import { describeObject } from '../../core/request/parse-fields.ts'
import { TAG } from '../../core/request/tags.ts'

const LONGEST_NAME = 120
const LONGEST_PIPELINE = 8000
const MOST_LISTED = 100
const LONGEST_LISTED = 200
const MOST_USD = 1_000_000
const MOST_REQUESTS = 1_000_000
const MOST_TURNS = 1_000_000
const MOST_TOKENS = 1_000_000_000_000
const LEAST_SECONDS = 60
/** A budget ends 30 days after its last use. */
const MOST_SECONDS = 30 * 24 * 60 * 60

/** Control characters and lone surrogates, which databases refuse. */
const NOT_TEXT = /[\p{Cc}\p{Cs}]/u

/** Returns the schema of a text without control characters. */
export function textOf(most: number) {
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

/** Returns the schema of an optional whole number. */
function countOf(most: number, least = 0) {
  const error = `expected a whole number from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error }).optional()
}

const names = z
  .array(textOf(LONGEST_LISTED), { error: `expected a list of at most ${MOST_LISTED} names` })
  .max(MOST_LISTED, { error: `expected a list of at most ${MOST_LISTED} names` })
  .optional()

const allLimits = z.strictObject(
  {
    costPerRequest: usd,
    costPerDay: usd,
    costPerMonth: usd,
    costPerConversation: usd,
    costPerAgent: usd,
    costPerRun: usd,
    turnsPerConversation: countOf(MOST_TURNS),
    tokensPerConversation: countOf(MOST_TOKENS),
    secondsPerConversation: countOf(MOST_SECONDS, LEAST_SECONDS),
    requestsPerMinute: countOf(MOST_REQUESTS, 1),
    models: names,
    modules: names,
  },
  { error: describeObject },
)

const limits = allLimits.nullable().optional()

/** Limits of a tag. */
export const costLimits = allLimits.pick({ costPerDay: true, costPerMonth: true }).nullable()

/** Limits of a person or a team. */
export const sharedLimits = allLimits
  .pick({ costPerDay: true, costPerMonth: true, requestsPerMinute: true, models: true, modules: true })
  .nullable()

const name = textOf(LONGEST_NAME).optional()
const pipelineConfig = textOf(LONGEST_PIPELINE)
const MOST_OVERLAP_SECONDS = 30 * 24 * 60 * 60
const OVERLAP_SECONDS = 60 * 60
const MOST_TAGS = 8
const tag = z.string().regex(TAG, { error: 'expected a tag: up to 40 lower-case letters, digits and `._-`' })
const moment = z.iso
  .datetime({ offset: true, error: 'expected a moment such as 2027-01-31T00:00:00Z' })
  .transform((text) => Date.parse(text))

/** Fields that managers of keys set, besides their owners. */
const managed = {
  teamId: z.string({ error: 'expected the id of a team' }).nullable().optional(),
  tags: z
    .array(tag, { error: `expected a list of at most ${MOST_TAGS} tags` })
    .max(MOST_TAGS, { error: `expected a list of at most ${MOST_TAGS} tags` })
    .transform((tags) => [...new Set(tags)].sort())
    .nullable()
    .optional(),
  expiresAt: moment.nullable().optional(),
}

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

/** The body of `POST /v1/admin/keys`. */
export const managedKeyFields = z.strictObject(
  {
    personId: z.string({ error: 'expected the id of the person whose key it is' }).min(1).max(LONGEST_LISTED),
    name,
    pipelineConfig: pipelineConfig.optional(),
    limits,
    ...managed,
  },
  { error: describeObject },
)

/** The body of `PATCH /v1/admin/keys/:id`. */
export const managedKeyChangeFields = z.strictObject(
  { name, pipelineConfig: pipelineConfig.nullable().optional(), limits, ...managed },
  { error: describeObject },
)

/** The body of a rotation: for how long the secret before still works, in seconds. Default one hour, at most 30 days. */
export const rotationFields = z.strictObject(
  { overlapSeconds: countOf(MOST_OVERLAP_SECONDS).default(OVERLAP_SECONDS) },
  { error: describeObject },
)
