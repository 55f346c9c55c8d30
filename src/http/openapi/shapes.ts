import { z } from 'zod'

/*
 * Words for JSON Schema. Objects take other members too: what a later version adds must not break a client that checks.
 */
export const text = { type: 'string' } as const
export const count = { type: 'integer', minimum: 0 } as const
export const amount = { type: 'number', minimum: 0 } as const
export const time = { type: 'string', format: 'date-time' } as const

export function nullable<const Type extends string>(type: Type) {
  return { type: [type, 'null'] }
}

export function anyOf<const Values extends readonly string[]>(...values: Values) {
  return { type: 'string', enum: values }
}

export function list(items: object) {
  return { type: 'array', items }
}

/** An object with members that are always there, and others. */
export function object(always: Readonly<Record<string, object>>, sometimes: Readonly<Record<string, object>> = {}) {
  return { type: 'object', required: Object.keys(always), properties: { ...always, ...sometimes } }
}

/** A named schema of the document. */
export function ref(name: string) {
  return { $ref: `#/components/schemas/${name}` }
}

/** A value that a zod schema checks, as JSON Schema: the check and its documentation cannot differ. */
export function described(schema: z.ZodType): object {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input' })
  return json
}
