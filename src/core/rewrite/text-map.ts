import type { ReplyPart } from '../reply/reply-parts.ts'

/** The surroundings of a piece of text that a plugin rewrites. */
export interface TextPiece {
  /** Up to 64 characters of the text before the piece, as the model wrote them. */
  readonly before: string
  /** True for the last piece of a text; always true in a JSON reply. */
  readonly isLast: boolean
}

/** A rewritten piece; the last `keep` characters of the piece are not in `text` and come again with the next one. */
export interface MappedText {
  readonly text: string
  readonly keep: number
}

/**
 * Rewrites a piece of a text that the model writes: returns the text to send in its place. In a stream it gets pieces
 * as they arrive, with the characters that it has kept before; in a JSON reply it gets each text whole. At most 65,536
 * characters can be kept. Lengths are in UTF-16 units.
 */
export type MapText = (text: string, piece: TextPiece) => string | MappedText

/**
 * Rewrites the arguments of a tool call: gets them whole, as the JSON text that the model wrote, and returns the JSON of an
 * object. Calls without arguments are left out.
 */
export type MapToolInput = (json: string, tool: { readonly name: string }) => string

/** Some kinds of parts, and the rewriting of their pieces. */
export interface PartMap {
  readonly kinds: ReadonlySet<ReplyPart['kind']>
  /** Most characters that may be held back. */
  readonly mostHeld: number
  /** Returns the text to send in place of `text` without its last `keep` characters. */
  map(text: string, piece: TextPiece & { readonly tool: string }): MappedText
}

const MOST_TEXT_HELD = 65_536
const MOST_INPUT_HELD = 16 * 1024 * 1024
const INPUT: PartMap['kinds'] = new Set(['input'])
const NO_ARGUMENTS = /^\s*(?:\{\s*\}\s*)?$/

/** Texts that `mapText` rewrites besides the answer's own. */
export interface MapTextOptions {
  /**
   * `citations` are texts of the request that the model quotes, with the titles of their documents; `reasoning` is thinking
   * that is neither signed nor encrypted, as some chat providers send it; `freeInputs` are the texts that custom tools of chat
   * completions get instead of JSON. Default: none.
   */
  readonly also?: readonly (keyof typeof ALSO)[]
}

const ALSO = { citations: 'citation', freeInputs: 'free_input', reasoning: 'reasoning' } as const

/** Applies `map` to the texts of a reply. */
export function textPartMap(map: MapText, { also = [] }: MapTextOptions = {}): PartMap {
  return piecePartMap(map, new Set(['text', ...also.map((name) => ALSO[name])]))
}

/** Applies `map` to the JSON text of the arguments of tool calls, as it arrives. */
export function inputTextPartMap(map: MapText): PartMap {
  return piecePartMap(map, INPUT)
}

function piecePartMap(map: MapText, kinds: PartMap['kinds']): PartMap {
  return {
    kinds,
    mostHeld: MOST_TEXT_HELD,
    map(text, { before, isLast }) {
      const mapped = map(text, { before, isLast })
      if (typeof mapped === 'string') return { text: mapped, keep: 0 }
      const { keep } = mapped
      if (!Number.isInteger(keep) || keep < 0 || keep > text.length)
        throw new RangeError(`expected \`keep\` from 0 to ${text.length}, got ${keep}`)
      if (isLast && keep > 0) throw new RangeError(`expected \`keep\` of 0 for the last piece, got ${keep}`)
      return mapped
    },
  }
}

/** Applies `map` to the arguments of tool calls, each once it is complete. */
export function inputPartMap(map: MapToolInput): PartMap {
  return {
    kinds: INPUT,
    mostHeld: MOST_INPUT_HELD,
    map(text, { isLast, tool }) {
      if (!isLast) return { text: '', keep: text.length }
      if (NO_ARGUMENTS.test(text)) return { text, keep: 0 }
      const json = map(text, { name: tool })
      if (json !== text) assertObject(json, tool)
      return { text: json, keep: 0 }
    },
  }
}

function assertObject(json: string, tool: string): void {
  const value: unknown = JSON.parse(json)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError(`expected a JSON object as the arguments of \`${tool}\``)
}
