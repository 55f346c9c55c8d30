import {
  elementsOf,
  isString,
  latin1Of,
  type Members,
  membersOf,
  NotConvertible,
  objectOf,
} from '../../core/json/raw-json.ts'
import { given, textOf } from './raw-fields.ts'

/** A part of a reply; text, names, arguments and signatures are raw JSON. */
export type AnswerPart =
  | { readonly kind: 'text' | 'thought'; readonly text: string; readonly signature: string | undefined }
  | {
      readonly kind: 'call'
      readonly id: string | undefined
      readonly name: string
      readonly args: string
      readonly signature: string | undefined
    }

/** Contents of one GenerateContentResponse; in a stream, each event is one, with a piece of the reply. */
export interface Piece {
  readonly parts: readonly AnswerPart[]
  readonly finishReason: string | undefined
  /** The provider's explanation of the finish reason, as raw JSON. */
  readonly finishMessage: string | undefined
  /** The parsed `usageMetadata`. */
  readonly usage: unknown
  /** As raw JSON. */
  readonly responseId: string | undefined
  /** True when the source reports an error instead of an answer. */
  readonly isError: boolean
}

/** Members that Gemini may add to a part without content. */
const SAYS_NOTHING = new Set(['thought', 'thoughtSignature', 'partMetadata'])

/**
 * Parses one GenerateContentResponse. Throws `NotConvertible`, `ScanError` or `SyntaxError` for unreadable data, and for
 * parts without an equivalent in the Messages shape (images, code): dropping them silently would be a wrong reply.
 */
export function parsePiece(data: string): Piece {
  JSON.parse(data) // the scanner does not validate strings; invalid text must not become a reply
  const json = latin1Of(data).trim()
  const response = membersOf(json.startsWith('[') ? (elementsOf(json)[0] ?? '') : json)
  const candidate = firstOf(given(response, 'candidates'))
  const content = candidate && objectOf(given(candidate, 'content'))
  const parts = content && given(content, 'parts')
  const feedback = objectOf(given(response, 'promptFeedback'))
  const usage = given(response, 'usageMetadata')
  return {
    parts: parts === undefined ? [] : elementsOf(parts).flatMap((part) => toAnswerParts(membersOf(part))),
    finishReason: reasonOf(candidate?.get('finishReason')) ?? reasonOf(feedback?.get('blockReason')),
    finishMessage: stringOf(candidate?.get('finishMessage')) ?? stringOf(feedback?.get('blockReasonMessage')),
    usage: usage === undefined ? undefined : JSON.parse(usage),
    responseId: stringOf(response.get('responseId')),
    isError: given(response, 'error') !== undefined,
  }
}

function firstOf(list: string | undefined): Members | undefined {
  const first = list === undefined ? undefined : elementsOf(list)[0]
  return first === undefined ? undefined : membersOf(first)
}

function reasonOf(raw: string | undefined): string | undefined {
  const reason = textOf(raw)
  return reason?.endsWith('_UNSPECIFIED') ? undefined : reason
}

function stringOf(raw: string | undefined): string | undefined {
  return isString(raw) && raw !== '""' ? raw : undefined
}

function toAnswerParts(part: Members): AnswerPart[] {
  const signature = stringOf(part.get('thoughtSignature'))
  const text = given(part, 'text')
  const call = given(part, 'functionCall')
  if (call !== undefined) return [toCall(membersOf(call), signature)]
  if (isString(text)) return [{ kind: part.get('thought') === 'true' ? 'thought' : 'text', text, signature }]
  const unknown = [...part.keys()].find((name) => !SAYS_NOTHING.has(name))
  if (unknown !== undefined) throw new NotConvertible(`a part with ${unknown}`)
  return signature === undefined ? [] : [{ kind: 'text', text: '""', signature }]
}

function toCall(call: Members, signature: string | undefined): AnswerPart {
  const name = stringOf(call.get('name'))
  const args = given(call, 'args') ?? '{}'
  if (name === undefined || !args.startsWith('{')) throw new NotConvertible('a functionCall without name or arguments')
  return { kind: 'call', id: textOf(call.get('id')), name, args, signature }
}
