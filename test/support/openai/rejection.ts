import type { JsonObject } from '../json.ts'
import type { Rejection } from '../provider/rejection.ts'
import type { Flavour } from './script.ts'

/** The server's refusal of a request; `param` and `code` are in its error body besides type and message. */
export interface ChatRejection extends Rejection {
  param: string | null
  code: string | null
}

/** Place of a fault. Both are null when the server names none. */
type Pointer = Partial<Pick<ChatRejection, 'param' | 'code'>>

const vllmTypes: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  404: 'NotFoundError',
  429: 'RateLimitError',
}

/** Returns the type and code of OpenAI's error with this status when nothing more is known. */
export function errorOf(status: number): Pick<ChatRejection, 'type' | 'code'> {
  if (status === 429) return { type: 'requests', code: 'rate_limit_exceeded' }
  if (status >= 500) return { type: 'server_error', code: null }
  return { type: 'invalid_request_error', code: null }
}

/** Makes a refusal with the type of its status. */
export function rejection(status: number, message: string, { param = null, code }: Pointer = {}): ChatRejection {
  const known = errorOf(status)
  return { status, type: known.type, message, param, code: code ?? known.code }
}

/** Makes the refusal of an invalid body: 400 `invalid_request_error`. */
export function invalid(message: string, pointer: Pointer = {}): ChatRejection {
  return rejection(400, message, pointer)
}

/** Makes the refusal of a member that the API does not have. `path` reads like `messages[1].content[0].cache_control`. */
export function unknownParameter(path: string): ChatRejection {
  return invalid(`Unknown parameter: '${path}'.`, { param: path, code: 'unknown_parameter' })
}

/** Makes the refusal of an absent member. */
export function missingParameter(path: string): ChatRejection {
  return invalid(`Missing required parameter: '${path}'.`, { param: path, code: 'missing_required_parameter' })
}

/** Makes the refusal of a value that is none of `supported`. */
export function unsupportedChoice(path: string, value: unknown, supported: Iterable<string>): ChatRejection {
  const names = [...supported].map((name) => `'${name}'`)
  return invalid(
    `Invalid value: '${value}'. Supported values are: ${names.slice(0, -1).join(', ')}, and ${names.at(-1)}.`,
    {
      param: path,
      code: 'invalid_value',
    },
  )
}

/** Makes the refusal of a value of the wrong JSON type. */
export function wrongType(path: string, expected: string, value: unknown): ChatRejection {
  const message = `Invalid type for '${path}': expected ${expected}, but got ${typeName(value)} instead.`
  return invalid(message, { param: path, code: 'invalid_type' })
}

/** Makes the refusal of an empty list. */
export function emptyArray(path: string): ChatRejection {
  const message = `Invalid '${path}': empty array. Expected an array with minimum length 1, but got an empty array instead.`
  return invalid(message, { param: path, code: 'empty_array' })
}

/** Makes the refusal of a list with more than `most` items. */
export function longArray(path: string, most: number, length: number): ChatRejection {
  const expected = `Expected an array with maximum length ${most}, but got an array with length ${length} instead.`
  return invalid(`Invalid '${path}': array too long. ${expected}`, { param: path, code: 'array_above_max_length' })
}

/** Makes the refusal of a parameter that exists, but not for this model. */
export function unsupportedParameter(name: string, hint = ''): ChatRejection {
  const message = `Unsupported parameter: '${name}' is not supported with this model.${hint}`
  return invalid(message, { param: name, code: 'unsupported_parameter' })
}

/** Builds the server's error body. A vLLM-like server repeats the status as a number where OpenAI has a code word. */
export function toErrorBody(error: ChatRejection, flavour: Flavour): JsonObject {
  const { status, type, message, param, code } = error
  if (flavour === 'openai') return { error: { message, type, param, code } }
  return { error: { message, type: vllmTypes[status] ?? 'InternalServerError', param, code: status } }
}

/** Returns the JSON type of a value with its article, as error messages name it. */
function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
