import { readJson } from '../core/json/json-error.ts'
import { parseJson } from '../core/json/parse-json.ts'
import { type RequestShape, scanRequest } from '../core/json/scan.ts'

/** Largest body of which the inside of strings is checked too: syntax errors in hand-written requests get their position. */
const STRINGS_CHECKED_BYTES = 8 * 1024
/** Control characters, and backslashes that begin no escape: where there are none, strings have no fault. */
const SIGN_OF_A_FAULT = /[^ -\uffff]|\\(?!["\\/bfnrt]|u[\da-fA-F]{4})/

/** Scans the body of a model request. Throws `invalid_request` for a body that is no JSON object, ambiguous or too large. */
export function scanBody(bytes: Buffer): RequestShape {
  return readJson(bytes, () => {
    const shape = scanRequest(bytes)
    if (bytes.length <= STRINGS_CHECKED_BYTES && SIGN_OF_A_FAULT.test(bytes.toString('latin1')))
      parseJson(bytes.toString())
    return shape
  })
}

/** Parses a body. Throws `invalid_request` with line and column. */
export function parseBody(bytes: Buffer): unknown {
  return readJson(bytes, () => parseJson(bytes.toString()))
}
