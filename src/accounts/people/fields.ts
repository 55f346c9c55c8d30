import { z } from 'zod'
import { describeObject } from '../../core/request/parse-fields.ts'
import { TAG } from '../../core/request/tags.ts'
import { costLimits, sharedLimits, textOf } from '../keys/fields.ts'

const LONGEST_NAME = 120
const LONGEST_ID = 200
const LONGEST_EMAIL = 254

const ROLES = ['viewer', 'member', 'operator'] as const
const person = {
  name: textOf(LONGEST_NAME).nullable().optional(),
  email: textOf(LONGEST_EMAIL).nullable().optional(),
  role: z.enum(ROLES, { error: `expected one of ${ROLES.join(', ')}` }).optional(),
  limits: sharedLimits.optional(),
}

/** The body of `PATCH /v1/admin/people/:id`. */
export const personFields = z.strictObject(person, { error: describeObject })

/** The body of `POST /v1/admin/people`: a person before the first sign-in; `id` is the user claim of their sessions. */
export const newPersonFields = z.strictObject(
  {
    id: textOf(LONGEST_ID).min(1, { error: 'expected the id that the identity provider gives the person' }),
    ...person,
  },
  { error: describeObject },
)

const teamName = textOf(LONGEST_NAME).trim().min(1, { error: 'expected a name' })

/** The body of `POST /v1/admin/teams`. */
export const newTeamFields = z.strictObject(
  { name: teamName, limits: sharedLimits.optional() },
  { error: describeObject },
)

/** The body of `PATCH /v1/admin/teams/:id`. */
export const teamFields = z.strictObject(
  {
    name: teamName.optional(),
    limits: sharedLimits.optional(),
    archived: z.boolean({ error: 'expected true or false' }).optional(),
  },
  { error: describeObject },
)

const MEMBER_ROLES = ['lead', 'member'] as const

/** The body of `PUT /v1/admin/teams/:id/members/:person`. */
export const memberFields = z.strictObject(
  { role: z.enum(MEMBER_ROLES, { error: 'expected lead or member' }).default('member') },
  { error: describeObject },
)

/** The body of `PUT /v1/admin/tags/:name`; only money can be limited by tag. */
export const tagFields = z.strictObject({ limits: costLimits }, { error: describeObject })

/** The name of a tag. */
export const tagName = z.string().regex(TAG, {
  error: 'tag: expected up to 40 lower-case letters, digits and `._-`, beginning with a letter or digit',
})
