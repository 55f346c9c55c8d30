const FIRST_PRINTABLE = 33
const LAST_PRINTABLE = 126

/** Thrown for a document that is not JSON; `position` is the byte offset of the first byte that does not fit. */
export class ScanError extends Error {
  override readonly name = 'ScanError'
  /** The fault there, without the position. */
  readonly reason: string
  readonly position: number

  /** `reason` reaches replies and logs, so it must not quote more than one character of the document. */
  constructor(reason: string, position: number) {
    super(`${reason} at byte ${position}`)
    this.reason = reason
    this.position = position
  }
}

/** Makes the `ScanError` for the byte at `position`; its message shows that one character of the document and no more. */
export function unexpected(text: string, position: number, expected: string): ScanError {
  return new ScanError(`expected ${expected}, got ${describeByte(text, position)}`, position)
}

function describeByte(text: string, position: number): string {
  if (position >= text.length) return 'the end of the document'
  const code = text.charCodeAt(position)
  if (code >= FIRST_PRINTABLE && code <= LAST_PRINTABLE) return `'${text[position]}'`
  return `byte 0x${code.toString(16).padStart(2, '0')}`
}
