import type { StoredResponse } from '../../../core/ports/stored-responses.ts'

/** Bytes that a row costs besides its content. */
const ROW_BYTES = 512

/** Returns the bytes that a response counts against the bounds. */
export function sizeOf({ content }: Pick<StoredResponse, 'content'>): number {
  return ROW_BYTES + (content === null ? 0 : Buffer.byteLength(content))
}
