/** Error types by HTTP status. Source: Anthropic, API reference, "errors"; Bedrock uses 424 for an error of the model. */
const TYPES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [408, 'timeout_error'],
  [413, 'request_too_large'],
  [424, 'api_error'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])

/** Returns the type of an error known only by its HTTP status. */
export function errorTypeOf(status: number): string {
  return TYPES.get(status) ?? (status >= 400 && status < 500 ? 'invalid_request_error' : 'api_error')
}
