import { isUtf8 } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { GatewayError } from '../../../src/core/errors.ts'
import { parseJson } from '../../../src/core/json/parse-json.ts'
import { type RequestShape, ScanError, scanRequest } from '../../../src/core/json/scan.ts'
import { MAX_DEPTH } from '../../../src/core/json/scan-value.ts'
import { messageRequestSchema } from '../../../src/core/request/message.ts'
import { parseMessagesRequest } from '../../../src/dialects/messages/parse.ts'
import { brokenRequests, jsonObjects, jsonTexts, requests } from '../../support/request-bodies.ts'
import { ambiguityOf } from '../../support/strict-json.ts'
import { attempt, type Fuzzer, promise } from '../fuzzer.ts'

/** Pieces of JSON, for all fuzzers of it; bytes as latin1. */
export const JSON_WORDS: readonly string[] = [
  ...['{', '}', '[', ']', ',', ':', '"', '\\', '""', '{}', '[]', 'null', 'true', '-', '1e999', '-0', '1.0', '\\u0000'],
  ...['"model":', '"messages":', '"mod\\u0065l":', '"__proto__":{"stream":true},', '"constructor":', '\\ud800', '\\"'],
  ...['\xef\xbb\xbf', '\xc3', '\xed\xa0\x80', '\xe2\x80\xa8', '['.repeat(300), '{"a":'.repeat(300), '9'.repeat(400)],
]

/** Limit of a member's name in bytes. */
const LONGEST_NAME = 1024
const STRING = /"((?:[^"\\]|\\.)*)"(\s*:)?/g

const toLatin1 = (text: string) => Buffer.from(text).toString('latin1')
const printed = (bodies: fc.Arbitrary<unknown>) => bodies.map((body) => JSON.stringify(body))

/**
 * Bodies of model requests: the scan takes what JSON.parse takes and no deeper, but for long names and what two readers could
 * understand differently; it gives the ranges of what JSON.parse sees, and is sure of a body only if the schema is; the whole parser refuses with `invalid_request` and nothing else.
 */
export const jsonScan: Fuzzer = {
  name: 'json-scan',
  seeds: fc.oneof(jsonTexts, jsonObjects, printed(requests), printed(brokenRequests)).map(toLatin1),
  words: JSON_WORDS,
  mostMutations: 3,
  outcomes: ['plain', 'unsure', 'refused', 'refused as ambiguous', 'refused by the schema'],
  run({ text }) {
    const bytes = Buffer.from(text, 'latin1')
    const oracle = attempt(() => parseJson(bytes.toString()))
    const scanned = attempt(() => scanRequest(bytes))
    const parsed = attempt(() => parseMessagesRequest(bytes))
    if ('error' in parsed) promise(isInvalidRequest(parsed.error), `threw ${parsed.error}`)
    if ('error' in scanned && scanned.error instanceof GatewayError) {
      promise(isInvalidRequest(scanned.error), `threw ${scanned.error}`)
      promise('error' in parsed, 'what the scan refuses is not taken')
      const isSound = !('error' in oracle) && isUtf8(bytes)
      const isRefusable = () => ambiguityOf(bytes.toString()) !== undefined || hasLongName(text)
      promise(!isSound || isRefusable(), `refused: ${scanned.error.message}`)
      return 'refused as ambiguous'
    }
    if ('error' in scanned) {
      promise(scanned.error instanceof ScanError, `threw ${scanned.error}`)
      promise('error' in parsed, 'what the scan refuses is not taken')
      const isSound = !('error' in oracle) && isUtf8(bytes) && isObject(oracle.value)
      promise(!isSound || depthOf(oracle.value) > MAX_DEPTH, `refused JSON: ${scanned.error.message}`)
      return 'refused'
    }
    const { value: shape } = scanned
    if ('error' in oracle) {
      // The inside of strings is not checked, so only a body that is parsed whole is sure to be refused here.
      promise('error' in parsed || bytes.length > 8192, 'what is no JSON is not taken')
      return 'refused'
    }
    promise(ambiguityOf(bytes.toString()) === undefined, 'what is ambiguous is not taken')
    assertRanges(shape, bytes, oracle.value)
    const isValid = messageRequestSchema.safeParse(oracle.value).success
    promise(!shape.plain || isValid || !shape.fields.has('model') || isScalarFault(oracle.value), 'plain is valid')
    const isTaken = !('error' in parsed)
    promise(isTaken === isValid, `the schema returns ${isValid}, the parser ${isTaken}`)
    if (!isTaken) return 'refused by the schema'
    return shape.plain ? 'plain' : 'unsure'
  },
}

/** True if valid JSON, bytes as latin1, has a name of more than 1024 bytes as written. */
function hasLongName(text: string): boolean {
  for (const [, name = '', colon] of text.matchAll(STRING))
    if (colon !== undefined && name.length > LONGEST_NAME) return true
  return false
}

function isInvalidRequest(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'invalid_request'
}

/** `plain` speaks of messages, system and tools alone. */
function isScalarFault(value: unknown): boolean {
  const faults = messageRequestSchema.safeParse(value).error?.issues ?? []
  return faults.every(({ path }) => !['messages', 'system', 'tools'].includes(String(path[0])))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Each range, parsed alone, is what JSON.parse made of the whole. */
function assertRanges({ fields }: RequestShape, bytes: Buffer, value: unknown): void {
  promise(isObject(value), 'an object is taken')
  promise(isDeepStrictEqual([...fields.keys()].sort(), Object.keys(value).sort()), 'the names are those of JSON.parse')
  for (const [name, { start, end }] of fields) {
    const range = parseJson(bytes.toString('utf8', start, end))
    promise(isDeepStrictEqual(range, value[name]), `the range of ${JSON.stringify(name)}`)
  }
}

/** Levels of nesting, without recursion. */
function depthOf(value: unknown): number {
  let depth = 0
  for (let level = [value]; level.length > 0; depth++)
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  return depth
}
