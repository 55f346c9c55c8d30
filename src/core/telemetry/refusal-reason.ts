import { GatewayError } from '../errors.ts'

const LONGEST_REASON = 300

/**
 * Returns the reason of a refusal for lists: an error's code or detail and its message, at most 300 characters. `hide` removes
 * credentials that the message repeats.
 */
export function reasonOf(error: unknown, hide: (text: string) => string): string {
  if (!(error instanceof GatewayError)) return 'internal_error: the log has more under the request id.'
  const { code, detail, message } = error
  return hide(detail === undefined ? `${code}: ${message}` : message).slice(0, LONGEST_REASON)
}
