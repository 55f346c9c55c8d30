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

/** A part of an answer; text, names, arguments and signatures are raw JSON. */
export type AnswerPart =
  | { readonly kind: 'text' | 'thought'; readonly text: string; readonly signature: string | undefined }
  | {
      readonly kind: 'call'
      readonly id: string | undefined
      readonly name: string
      readonly args: string
      readonly signature: string | undefined
    }

/** What one GenerateContentResponse says; in a stream, each event is one and has a piece of the answer. */
export interface Piece {
  readonly parts: readonly AnswerPart[]
  readonly finishReason: string | undefined
  /** Raw words of the provider on why it stopped. */
  readonly finishMessage: string | undefined
  /** The parsed `usageMetadata`. */
  readonly usage: unknown
  /** Raw. */
  readonly responseId: string | undefined
  /** The answer is none: the source tells of an error. */
  readonly isError: boolean
}

/** Parts that Gemini may sign or mark and that have nothing else to say. */
const SAYS_NOTHING = new Set(['thought', 'thoughtSignature', 'partMetadata'])

/**
 * Parses one GenerateContentResponse. Throws `NotConvertible`, `ScanError` or `SyntaxError` for what cannot be read, and
 * for parts that the Messages shape has no place for (images, code): losing them in silence would be a wrong answer.
 */
export function parsePiece(data: string): Piece {
  JSON.parse(data) // the scanner does not look inside strings; broken text must not become a reply
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
