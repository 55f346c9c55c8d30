import { randomUUID } from 'node:crypto'

/** A new request id, `req_` and 32 hexadecimal digits. */
export function createRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}
