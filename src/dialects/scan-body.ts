import { readJson } from '../core/json/json-error.ts'
import { parseJson } from '../core/json/parse-json.ts'
import { type RequestShape, scanRequest } from '../core/json/scan.ts'

/** Scans the body of a model request. Throws `invalid_request` for a body that is no JSON object, ambiguous or too large. */
export function scanBody(bytes: Buffer): RequestShape {
  return readJson(bytes, () => scanRequest(bytes))
}

/** Parses a body. Throws `invalid_request` with line and column. */
export function parseBody(bytes: Buffer): unknown {
  return readJson(bytes, () => parseJson(bytes.toString()))
}
