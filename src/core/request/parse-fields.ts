import type { z } from 'zod'
import { GatewayError } from '../errors.ts'

/** Checks a body or a query against its fields. Throws `invalid_request` that names each field at fault and what was expected. */
export function parseFields<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  )
  throw new GatewayError('invalid_request', `${faults.join('; ')}.`)
}

/** The words for a field that is not known, and for a body that is no object. */
export function describeObject({ code, keys }: { code?: string; keys?: readonly string[] }): string {
  if (code !== 'unrecognized_keys') return 'expected a JSON object'
  return `unknown field ${(keys ?? []).map((key) => `\`${key}\``).join(', ')}`
}
