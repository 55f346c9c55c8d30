import type { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'
import {
  countedRequestSchema,
  countedScalarFieldsSchema,
  explain,
  hasUsualScalars,
  messageRequestSchema,
  scalarFieldsSchema,
} from '../../core/request/message.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { parseBody, scanBody } from '../scan-body.ts'

/**
 * DESIGN — fast accept, slow explain
 *
 * A body is scanned once; the scan yields every field's byte range and whether `messages` is certainly well formed. If so,
 * only the small fields are parsed and checked, by hand where they are usual ones. Any doubt leads to a full parse and a
 * check by the schema, which also writes the error.
 */
const SCALARS = [
  'model',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'stream',
  'metadata',
] as const

/** Parses the body of a Messages request. Throws `invalid_request` that names the field or the position. */
export function parseMessagesRequest(bytes: Buffer): RequestDocument {
  return parse(bytes, { scalars: scalarFieldsSchema, whole: messageRequestSchema })
}

/** Parses the body of a token count, which needs no `max_tokens`. Throws like `parseMessagesRequest`. */
export function parseCountTokensRequest(bytes: Buffer): RequestDocument {
  return parse(bytes, { scalars: countedScalarFieldsSchema, whole: countedRequestSchema })
}

interface Schemas {
  /** For a body whose small fields alone remain to be checked. */
  readonly scalars: z.ZodType
  readonly whole: z.ZodType
}

function parse(bytes: Buffer, { scalars, whole }: Schemas): RequestDocument {
  const shape = scanBody(bytes)
  if (shape.plain) {
    const document = new RequestDocument(bytes, shape)
    assertFits(scalarsOf(document), scalars)
    return document
  }
  const value = parseBody(bytes)
  assertFits(value, whole)
  // Safe: both schemas accept objects only.
  const { model, max_tokens, stream } = value as Record<string, unknown>
  return new RequestDocument(bytes, shape, { model, max_tokens, stream })
}

function assertFits(value: unknown, schema: z.ZodType): void {
  if (schema === scalarFieldsSchema && hasUsualScalars(value)) return
  const checked = schema.safeParse(value)
  if (!checked.success) throw new GatewayError('invalid_request', explain(checked.error))
}

function scalarsOf(document: RequestDocument): Record<string, unknown> {
  const scalars: Record<string, unknown> = {}
  for (const name of SCALARS) if (document.shape.fields.has(name)) scalars[name] = document.field(name)
  return scalars
}
