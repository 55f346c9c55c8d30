import { z } from 'zod'

/*
 * Builders of JSON Schema. Objects allow other members, so that later additions do not break clients that validate.
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

/** Returns the schema of an object with required and optional members. */
export function object(always: Readonly<Record<string, object>>, sometimes: Readonly<Record<string, object>> = {}) {
  return { type: 'object', required: Object.keys(always), properties: { ...always, ...sometimes } }
}

/** Returns a reference to a named schema of the document. */
export function ref(name: string) {
  return { $ref: `#/components/schemas/${name}` }
}

/** Converts a zod schema to JSON Schema, so that validation and documentation agree. */
export function described(schema: z.ZodType): object {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input' })
  return json
}
