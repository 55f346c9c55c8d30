import { GatewayError } from '../../core/errors.ts'

/** Where people may be sent after they were at the payment provider. */
export interface ReturnAddresses {
  /** Where they are sent unless a request says otherwise; unset: the gateway's own. */
  readonly dashboardUrl: string | undefined
  /** Origins they may be sent to besides; empty: any. */
  readonly allowedOrigins: readonly string[]
}

const WEB = new Set(['http:', 'https:'])

/** Checks an address that a request names. Throws `invalid_request` with the name of its member. */
export function returnAddress(
  member: string,
  text: string,
  { addresses, home }: { addresses: ReturnAddresses; home: string },
): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !WEB.has(url.protocol) || url.username !== '' || url.password !== '')
    throw new GatewayError('invalid_request', `${member}: expected an http(s) address.`)
  const origins = addresses.allowedOrigins.map((address) => new URL(address).origin)
  if (origins.length > 0 && ![...origins, new URL(home).origin].includes(url.origin))
    throw new GatewayError(
      'invalid_request',
      `${member}: expected an address of ${[...origins, new URL(home).origin].join(' or ')}.`,
    )
  // Not the parsed form: Stripe fills in {CHECKOUT_SESSION_ID}, whose braces that would escape.
  return text
}
