import { GatewayError } from '../../core/errors.ts'
import { locateJsonError } from '../../core/json-error.ts'
import { explain, messageRequestSchema, scalarFieldsSchema } from '../../core/message.ts'
import { RequestDocument } from '../../core/request.ts'
import { type RequestShape, ScanError, scanRequest } from '../../core/scan.ts'
import { KnownBodies } from './known-bodies.ts'

/**
 * DESIGN — fast accept, slow explain
 *
 * A large body is scanned once; the scan knows every field's byte range and whether `messages` is certainly well formed.
 * If so, only the small fields are parsed and checked. Whatever the scan is not sure of is parsed whole and judged by
 * the schema, which also writes the error. A small body is always parsed whole: that costs next to nothing, and typing
 * errors in hand-written requests get their exact position.
 */
const ALWAYS_PARSED_BYTES = 8 * 1024
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

/** Takes in the body of a Messages request. Throws `invalid_request` that names the field or the position. */
export type ParseRequest = (bytes: Buffer) => RequestDocument

/** Creates a function that takes in bodies and recognises those that come again. */
export function createMessagesParser(): ParseRequest {
  const known = new KnownBodies()
  return (bytes) => known.recognise(bytes, parseMessagesRequest)
}

/** Takes in one body. */
function parseMessagesRequest(bytes: Buffer): RequestDocument {
  const shape = scan(bytes)
  const { duplicate } = shape
  if (duplicate !== undefined)
    throw new GatewayError('invalid_request', `${duplicate}: the field stands twice in the body.`)
  const document = new RequestDocument(bytes, shape)
  const isLarge = bytes.length > ALWAYS_PARSED_BYTES
  const value = shape.plain && isLarge ? scalarsOf(document) : parseJson(bytes)
  const checked = (shape.plain ? scalarFieldsSchema : messageRequestSchema).safeParse(value)
  if (!checked.success) throw new GatewayError('invalid_request', explain(checked.error))
  return document
}

function scan(bytes: Buffer): RequestShape {
  try {
    return scanRequest(bytes)
  } catch (error) {
    if (error instanceof ScanError) throw invalidJson(bytes, error)
    throw error
  }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch (error) {
    throw invalidJson(bytes, error)
  }
}

function invalidJson(bytes: Buffer, cause: unknown): GatewayError {
  if (cause instanceof ScanError && cause.reason.startsWith('expected an object'))
    return new GatewayError('invalid_request', `The body is not a JSON object: ${cause.message}.`, { cause })
  const { line, column, message } = locateJsonError(bytes)
  return new GatewayError(
    'invalid_request',
    `The body is not valid JSON at line ${line}, column ${column}: ${message}.`,
    { cause },
  )
}

function scalarsOf(document: RequestDocument): Record<string, unknown> {
  const scalars: Record<string, unknown> = {}
  for (const name of SCALARS) {
    const value = document.field(name)
    if (value !== undefined) scalars[name] = value
  }
  return scalars
}
