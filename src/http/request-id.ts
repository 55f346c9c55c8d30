import { randomUUID } from 'node:crypto'

/** A new request id, `req_` and 32 hexadecimal digits. */
export function createRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}

/** The id under the names in which SDKs look for it: Anthropic's, and OpenAI's. */
export function requestIdHeaders(requestId: string): { 'request-id': string; 'x-request-id': string } {
  return { 'request-id': requestId, 'x-request-id': requestId }
}
