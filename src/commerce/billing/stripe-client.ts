import type Stripe from 'stripe'

/** Access to Stripe. */
export interface StripeAccess {
  readonly secretKey: string
  /** Another address of the API; unset: Stripe's own. */
  readonly apiBase?: string | undefined
}

/** Stripe's client, loaded at its first use: it takes a tenth of a second and 20 MB, and most processes never need it. */
export type StripeClient = () => Promise<Stripe>

const TRIES_AFTER_THE_FIRST = 2
const TIMEOUT_MS = 10_000

/** Creates a client that loads Stripe's package at its first use. */
export function createStripeClient(access: StripeAccess): StripeClient {
  let client: Promise<Stripe> | undefined
  return () => {
    client ??= openClient(access)
    return client
  }
}

async function openClient({ secretKey, apiBase }: StripeAccess): Promise<Stripe> {
  const { default: Stripe } = await import('stripe')
  return new Stripe(secretKey, {
    maxNetworkRetries: TRIES_AFTER_THE_FIRST,
    timeout: TIMEOUT_MS,
    telemetry: false,
    ...(apiBase !== undefined && placeOf(new URL(apiBase))),
  })
}

function placeOf({ protocol, hostname, port }: URL): { host: string; port: string; protocol: 'http' | 'https' } {
  const isHttps = protocol === 'https:'
  return { host: hostname, port: port || (isHttps ? '443' : '80'), protocol: isHttps ? 'https' : 'http' }
}
