import { RandomPool } from '../core/random-pool.ts'

const TIME_DIGITS = 12
const RANDOM_BYTES = 10

const randomness = new RandomPool(RANDOM_BYTES)

/**
 * Creates a request id: `req_`, 12 hexadecimal digits of milliseconds since 1970, 20 random ones. Ids sort by time, so
 * that a database adds each to the end of its index; a random one would change another page each time.
 */
export function createRequestId(nowMs: number = Date.now()): string {
  return `req_${nowMs.toString(16).padStart(TIME_DIGITS, '0')}${randomness.take().toString('hex')}`
}

/** Returns the id in the headers that SDKs read: Anthropic's and OpenAI's. */
export function requestIdHeaders(requestId: string): { 'request-id': string; 'x-request-id': string } {
  return { 'request-id': requestId, 'x-request-id': requestId }
}
