/**
 * Frees the memory of bytes that nothing else refers to, at once instead of at the next collection; a view of it is empty
 * afterwards. V8 counts the memory of Buffers, and collects the old generation after some ten megabytes of it.
 */
export function releaseMemory({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}
