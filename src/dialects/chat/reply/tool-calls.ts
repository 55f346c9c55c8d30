import { hash } from 'node:crypto'
import { isObject, type JsonObject, tryParseJson } from '../../../core/json/json-value.ts'
import { latin1Of, utf8Of } from '../../../core/json/raw-json.ts'
import { children, ScanError } from '../../../core/json/scan.ts'
import { listOf, recordOf, stringOf } from './narrow.ts'

/** A tool call of a completion, or the piece of one in a chunk. Missing members are ''. */
export interface CallPiece {
  /** The call's number in a stream; some servers send none. */
  readonly index: number | undefined
  readonly id: string
  readonly name: string
  /** JSON text, whole or a piece of it. */
  readonly arguments: string
}

/** Position of the message or delta: the JSON text it was parsed from, and the path to it. */
export interface Place {
  readonly json: () => string
  readonly path: readonly (string | number)[]
}

/** Name of a call without one: the client replies that there is no such tool, and the model can continue. */
export const NAMELESS = 'unnamed_function'
const ID_DIGITS = 24
const LONE_SURROGATES = /\p{Surrogate}/gu

/** Returns the calls of a completion's message or of a chunk's delta, the legacy `function_call` included. */
export function callsOf(said: JsonObject, place: Place): readonly CallPiece[] {
  const calls: CallPiece[] = []
  for (const [position, call] of listOf(said.tool_calls).entries()) {
    const text = () => rawAt(place, ['tool_calls', position, 'function', 'arguments'])
    if (isObject(call)) calls.push(pieceOf(call, call.function, text))
  }
  const text = () => rawAt(place, ['function_call', 'arguments'])
  if (isObject(said.function_call)) calls.push(pieceOf({}, said.function_call, text))
  return calls
}

/** `rawArguments` returns the JSON text of arguments that are not a string. */
function pieceOf({ index, id }: JsonObject, called: unknown, rawArguments: () => string): CallPiece {
  const { name, arguments: given } = recordOf(called) ?? {}
  return {
    index: typeof index === 'number' ? index : undefined,
    id: stringOf(id),
    name: stringOf(name),
    arguments: isObject(given) ? rawArguments() : stringOf(given),
  }
}

/** Returns the raw JSON at a path: some servers send arguments as an object, and numbers must survive there too. */
function rawAt({ json, path }: Place, steps: readonly (string | number)[]): string {
  let raw = latin1Of(json().trim())
  try {
    for (const step of [...path, ...steps]) {
      const found = children(raw, 0).findLast(({ key }, position) => (key ?? position) === step)
      if (found === undefined) return ''
      raw = raw.slice(found.start, found.end)
    }
    return utf8Of(raw)
  } catch (error) {
    if (error instanceof ScanError) return ''
    throw error
  }
}

/**
 * Returns the JSON of a call's input as the model wrote it: its arguments are neither parsed nor printed. Empty arguments
 * are `{}`; text that is no JSON object becomes `{"arguments":"<the text>"}`, since an input must be an object.
 */
export function inputOf(text: string): string {
  const blank = text.trim()
  if (blank === '' || blank === 'null') return '{}'
  if (!isObject(tryParseJson(text))) return JSON.stringify({ arguments: text })
  return text.isWellFormed() ? text : text.replace(LONE_SURROGATES, escapeSurrogate)
}

/** Escapes a lone surrogate, which would not survive as UTF-8 otherwise. */
function escapeSurrogate(half: string): string {
  return `\\u${half.charCodeAt(0).toString(16)}`
}

/** Returns a deterministic id for the call of this number in the message, in a form that providers accept. */
export function callIdOf(messageId: string, number: number): string {
  return `call_${hash('sha256', `${messageId}/${number}`).slice(0, ID_DIGITS)}`
}
