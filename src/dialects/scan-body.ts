import { GatewayError } from '../core/errors.ts'
import { locateJsonError } from '../core/json-error.ts'
import { type RequestShape, ScanError, scanRequest } from '../core/scan.ts'

/** Scans the body of a model request. Throws `invalid_request` for what is no JSON object, or has a field twice. */
export function scanBody(bytes: Buffer): RequestShape {
  const shape = scan(bytes)
  if (shape.duplicate !== undefined)
    throw new GatewayError('invalid_request', `${shape.duplicate}: the field stands twice in the body.`)
  return shape
}

/** Parses a body. Throws `invalid_request` with line and column. */
export function parseBody(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    // V8's own words quote the body, which must not get into a log.
    throw invalidJson(bytes)
  }
}

function scan(bytes: Buffer): RequestShape {
  try {
    return scanRequest(bytes)
  } catch (error) {
    if (error instanceof ScanError) throw invalidJson(bytes, error)
    throw error
  }
}

function invalidJson(bytes: Buffer, cause?: ScanError): GatewayError {
  if (cause?.reason.startsWith('expected an object'))
    return new GatewayError('invalid_request', `The body is not a JSON object: ${cause.message}.`, { cause })
  const { line, column, message } = locateJsonError(bytes)
  return new GatewayError(
    'invalid_request',
    `The body is not valid JSON at line ${line}, column ${column}: ${message}.`,
    { cause },
  )
}
