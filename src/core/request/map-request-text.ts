/**
 * DESIGN — rewrites the texts of a request in the client's own dialect
 *
 *   client's document ──► every string ──► map ──► the changed ones spliced in ──► another client request
 *                                                                          └─ translated anew on first use
 *
 * Guarantees: every string, every long whole number and every unusual member name passes `map`, in fields of any name, so
 * that nothing a provider could receive is left out; so do texts that the gateway has opened for the client. Bytes outside
 * of changed values stay. If `map` throws, nothing has changed. A body whose values hide others is refused: of members with one
 * name in the arguments of a tool, parsers read the last, and another parser may read the first.
 * Limits: a member name of a usual form (small letters and `_`, up to 24) is not passed, nor are names at the top.
 */
import { GatewayError } from '../errors.ts'
import { stringsIn, stringsInJson } from '../json/count-strings.ts'
import { isObject, type JsonObject } from '../json/json-value.ts'
import type { Edit, Path } from '../json/splice.ts'
import type { ExchangeState } from './exchange-state.ts'
import type { RequestDocument } from './request.ts'

/** Place of a text in the client's request. */
export interface TextPlace {
  readonly path: Path
  /** The parsed object or array that holds the text. Not to be changed. */
  readonly parent: JsonObject | readonly unknown[]
  /** A `number` becomes a string where its text changes; a `name` is that of a member of `parent`. */
  readonly kind: 'string' | 'number' | 'name'
}

/** Rewrites one text of a request: returns it, or the text to send in its place. */
export type MapRequestText = (text: string, place: TextPlace) => string

const USUAL_NAME = /^[a-z_]{0,24}$/
/** Shorter numbers are counts and times rather than text. */
const LEAST_LONG_NUMBER = 1e8
const OPENED: JsonObject = { type: 'opened' }
const HIDES = Symbol('hides texts')

/** Applies `map` to the client's request, and to the canonical one where plugins have edited that. */
export function mapRequestText(state: ExchangeState, map: MapRequestText): void {
  const { client } = state
  const document = mappedDocument(client.document, map)
  const opened = new Map(
    [...client.openedTexts].map(([path, text]) => [path, map(text, { path: [path], parent: OPENED, kind: 'string' })]),
  )
  const isSame =
    document === client.document && [...client.openedTexts].every(([path, text]) => opened.get(path) === text)
  const request = state.request && mappedDocument(state.request, map)
  if (!isSame) {
    state.received ??= client
    state.client = client.with(document, opened)
  }
  state.request = request
}

function mappedDocument(document: RequestDocument, map: MapRequestText): RequestDocument {
  if (document.memo(HIDES, hidesTexts))
    throw new GatewayError('invalid_request', 'An object of the request has two members of one name.')
  const walk = new Walk(map)
  for (const name of document.shape.fields.keys()) {
    const value = document.field(name)
    walk.value(value, [name], { [name]: value })
  }
  return walk.edits.length === 0 ? document : document.edited(walk.edits)
}

class Walk {
  readonly edits: Edit[] = []
  readonly #map: MapRequestText

  constructor(map: MapRequestText) {
    this.#map = map
  }

  value(value: unknown, path: Path, parent: TextPlace['parent']): void {
    if (typeof value === 'string' || isLongNumber(value)) {
      const mapped = this.#mapped(value, path, parent)
      if (mapped !== value) this.edits.push({ op: 'replace', path, value: mapped })
    } else if (Array.isArray(value)) {
      for (const [index, element] of value.entries()) if (hasText(element)) this.value(element, [...path, index], value)
    } else if (isObject(value)) this.#object(value, path)
  }

  #object(value: JsonObject, path: Path): void {
    const names = Object.keys(value)
    const isRenamed = names.some((name) => this.#name(name, path, value) !== name)
    if (isRenamed) this.edits.push({ op: 'replace', path, value: this.#copy(value, path, value) })
    else for (const name of names) if (hasText(value[name])) this.value(value[name], [...path, name], value)
  }

  #name(name: string, path: Path, parent: JsonObject): string {
    return USUAL_NAME.test(name) ? name : this.#map(name, { path: [...path, name], parent, kind: 'name' })
  }

  /** Returns the value without its originals, where members get other names and cannot be spliced one by one. */
  #copy(value: unknown, path: Path, parent: TextPlace['parent']): unknown {
    if (typeof value === 'string' || isLongNumber(value)) return this.#mapped(value, path, parent)
    if (Array.isArray(value)) return value.map((element, index) => this.#copy(element, [...path, index], value))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        this.#name(name, path, value),
        this.#copy(member, [...path, name], value),
      ]),
    )
  }

  #mapped(value: string | number, path: Path, parent: TextPlace['parent']): string | number {
    const text = String(value)
    const mapped = this.#map(text, { path, parent, kind: typeof value === 'string' ? 'string' : 'number' })
    return mapped === text ? value : mapped
  }
}

function hasText(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null) || isLongNumber(value)
}

function isLongNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) >= LEAST_LONG_NUMBER
}

/** Tests for strings of the bytes that are in no parsed value. */
function hidesTexts(document: RequestDocument): boolean {
  let strings = 0
  for (const name of document.shape.fields.keys()) strings += 1 + stringsIn(document.field(name))
  return strings !== stringsInJson(document.bytes.toString('latin1'))
}
