export function firstInvalidUtf8(bytes: Buffer): number {
  return 0
}
export function locateJsonError(bytes: Buffer): { position: number; line: number; column: number; message: string } {
  return { position: 0, line: 1, column: 1, message: 'not JSON' }
}
