/**
 * DESIGN: prints a tree some parts of which are JSON already.
 *
 * Purpose: a model's tool input must keep its exact text (1.0, 2^53+1, the order of integer-like keys), so it cannot be
 * parsed into the tree that JSON.stringify prints. `raw` leaves a marker in the tree, `print` puts the text in its place.
 *
 * Guarantee: no value of the tree, whatever its source, is taken for a marker. A marker prints as `"\/7"`: a quote and an
 * escaped slash. JSON.stringify never escapes a slash, and in its output a backslash after a quote always begins an
 * escape of its own, so `"\/` comes from markers alone.
 * Limits: raw text is not checked; the caller guarantees that it is JSON.
 */

/** JSON with TC39's "JSON.parse source text access", which the compiler's library does not declare yet. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): object }

const MARKER = '"\\/'
const LONE_SURROGATES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Prints one tree with raw JSON in it. */
export class JsonPrinter {
  readonly #parts: string[] = []

  /** Returns a value to put into the tree, which prints as `json`. */
  raw(json: string): object {
    this.#parts.push(json.isWellFormed() ? json : escapeSurrogates(json))
    return rawJSON(`${MARKER}${this.#parts.length - 1}"`)
  }

  /** Prints the tree as JSON, raw parts in their places. */
  print(tree: object): string {
    const printed = JSON.stringify(tree)
    let text = ''
    let from = 0
    for (let at = printed.indexOf(MARKER); at >= 0; at = printed.indexOf(MARKER, from)) {
      const end = printed.indexOf('"', at + MARKER.length)
      text += printed.slice(from, at) + this.#parts[Number(printed.slice(at + MARKER.length, end))]
      from = end + 1
    }
    return text + printed.slice(from)
  }
}

/** Escapes lone surrogates, which JSON can hold only as escapes: UTF-8 would turn them into another character. */
function escapeSurrogates(json: string): string {
  return json.replace(LONE_SURROGATES, (half) => `\\u${half.charCodeAt(0).toString(16)}`)
}
