/** A place in a file; line and column are counted from 0. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** A place in a source. */
export interface SourcePlace extends Place {
  /** As the map names it: a path relative to the map. */
  readonly source: string
}

/** The fields of a source map that are read (ECMA-426). */
export interface RawSourceMap {
  readonly sources: readonly string[]
  readonly mappings: string
}

const COMMA = 0x2c
const SEMICOLON = 0x3b
const CONTINUES = 32
const DIGIT_BITS = 5
const DIGITS = digits()

function digits(): Int8Array {
  const values = new Int8Array(128)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  for (let value = 0; value < alphabet.length; value++) values[alphabet.charCodeAt(value)] = value
  return values
}

/**
 * Finds the sources of places, `undefined` for one without a source. One pass over the mappings, without a table of them:
 * `SourceMap` of `node:module` takes 26 MB and ten times as long for the gateway's bundle.
 */
export function findSources(map: RawSourceMap, places: readonly Place[]): (SourcePlace | undefined)[] {
  const { mappings, sources } = map
  const found = new Array<SourcePlace | undefined>(places.length).fill(undefined)
  const lines = new Set(places.map(({ line }) => line))
  const lastLine = Math.max(...lines)
  // Column of the bundle in its line; source, line, column and name: differences to the segment before.
  const state = [0, 0, 0, 0, 0]
  let [line, field, value, shift] = [0, 0, 0, 0]
  for (let at = 0; at <= mappings.length && line <= lastLine; at++) {
    const code = at === mappings.length ? SEMICOLON : mappings.charCodeAt(at)
    if (code !== COMMA && code !== SEMICOLON) {
      const digit = DIGITS[code] ?? 0
      value |= (digit & (CONTINUES - 1)) << shift
      shift += DIGIT_BITS
      if ((digit & CONTINUES) !== 0) continue
      state[field] = (state[field] ?? 0) + (value & 1 ? -(value >> 1) : value >> 1)
      field++
      value = shift = 0
      continue
    }
    if (field > 0 && lines.has(line)) note()
    field = 0
    if (code === COMMA) continue
    line++
    state[0] = 0
  }
  return found

  /** Notes the segment for the places at it or behind it, until the next one. */
  function note(): void {
    const [from = 0, source = 0, sourceLine = 0, column = 0] = state
    for (const [index, place] of places.entries())
      if (place.line === line && place.column >= from)
        found[index] = field === 1 ? undefined : { source: sources[source] ?? '', line: sourceLine, column }
  }
}
