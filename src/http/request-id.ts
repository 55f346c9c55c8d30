import { randomUUID } from 'node:crypto'

/** Creates a request id: `req_` and 32 hexadecimal digits. */
export function createRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}

/** Returns the id in the headers that SDKs read: Anthropic's and OpenAI's. */
export function requestIdHeaders(requestId: string): { 'request-id': string; 'x-request-id': string } {
  return { 'request-id': requestId, 'x-request-id': requestId }
}
