import { GatewayError } from '../../core/errors.ts'

/** Addresses to which the payment provider may return people. */
export interface ReturnAddresses {
  /** Default return address; unset: the gateway's own. */
  readonly dashboardUrl: string | undefined
  /** Further allowed origins; empty: any. */
  readonly allowedOrigins: readonly string[]
}

const WEB = new Set(['http:', 'https:'])

/** Checks a request's address. Throws `invalid_request` with the name of its member. */
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
  // Not the parsed form: it would escape the braces of Stripe's placeholder {CHECKOUT_SESSION_ID}.
  return text
}
