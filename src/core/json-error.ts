export function firstInvalidUtf8(bytes: Buffer): number {
  return 0
}
