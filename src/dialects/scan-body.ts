import { GatewayError } from '../core/errors.ts'
import { readJson } from '../core/json-error.ts'
import { parseJson } from '../core/parse-json.ts'
import { type RequestShape, scanRequest } from '../core/scan.ts'

/** Scans the body of a model request. Throws `invalid_request` for what is no JSON object, or has a field twice. */
export function scanBody(bytes: Buffer): RequestShape {
  const shape = scan(bytes)
  if (shape.duplicate !== undefined)
    throw new GatewayError('invalid_request', `${shape.duplicate}: the field stands twice in the body.`)
  return shape
}

/** Parses a body. Throws `invalid_request` with line and column. */
export function parseBody(bytes: Buffer): unknown {
  return readJson(bytes, () => parseJson(bytes.toString()))
}

function scan(bytes: Buffer): RequestShape {
  return readJson(bytes, () => scanRequest(bytes))
}
