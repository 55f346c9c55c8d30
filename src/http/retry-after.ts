/** Prints a wait as whole seconds for `retry-after` (RFC 9110 §10.2.3), rounded up: a client that obeys is admitted. */
export function retryAfter(waitMs: number): string {
  return String(Math.ceil(waitMs / 1000))
}
