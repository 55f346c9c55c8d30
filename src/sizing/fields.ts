import { z } from 'zod'
import { trafficSchema } from './traffic.ts'

/** A field of the description of traffic. */
export interface Field {
  readonly name: string
  /** `null` where it must be given. */
  readonly default: unknown
  readonly description: string
}

interface FieldSchema {
  description?: string
  default?: unknown
  properties?: Record<string, FieldSchema>
}

/** All fields, members of `machine` by their paths. */
export function fieldsOf(): Field[] {
  const visit = ({ properties = {} }: FieldSchema, before: string): Field[] =>
    Object.entries(properties).flatMap(([name, schema]) =>
      schema.properties === undefined
        ? [{ name: before + name, default: schema.default ?? null, description: schema.description ?? '' }]
        : visit(schema, `${before}${name}.`),
    )
  return visit(z.toJSONSchema(trafficSchema, { io: 'input' }) as FieldSchema, '') // safe: a schema of an object
}
