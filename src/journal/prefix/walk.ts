import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  nextElement,
  nextMember,
  skipColon,
  skipKey,
  skipSpace,
} from '../../core/json/scan-value.ts'

/** A JSON document: its bytes, and the same bytes read as latin1, so that every index is a byte offset. */
export interface Source {
  readonly bytes: Buffer
  readonly text: string
}

/** One member of an object: its name as written, and its offsets. `end` is set by the visitor. */
export interface Member {
  readonly name: string
  readonly keyStart: number
  readonly start: number
}

/**
 * Calls `visit` for each member of the object at byte `start`, with the offset of its value; it returns the offset after the
 * value. Returns the offset after the object. Throws `ScanError`.
 */
export function walkObject(text: string, start: number, visit: (member: Member) => number): number {
  let at = skipSpace(text, start + 1)
  if (text.charCodeAt(at) === CLOSE_BRACE) return at + 1
  for (;;) {
    const keyEnd = skipKey(text, at)
    const name = text.slice(at + 1, keyEnd - 1)
    at = nextMember(text, visit({ name, keyStart: at, start: skipColon(text, keyEnd) }))
    if (at < 0) return -at
  }
}

/** Calls `visit` for each element of the array at byte `start`, as `walkObject` does. */
export function walkArray(text: string, start: number, visit: (start: number, index: number) => number): number {
  let at = skipSpace(text, start + 1)
  if (text.charCodeAt(at) === CLOSE_BRACKET) return at + 1
  for (let index = 0; ; index++) {
    at = nextElement(text, visit(at, index))
    if (at < 0) return -at
  }
}
