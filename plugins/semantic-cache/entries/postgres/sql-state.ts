/** The SQLSTATE of an error that the server itself has sent; `undefined` for one of the way to it. */
export function sqlStateOf(error: unknown): string | undefined {
  const isSent = typeof error === 'object' && error !== null && 'severity' in error && 'code' in error
  return isSent && typeof error.code === 'string' ? error.code : undefined
}
