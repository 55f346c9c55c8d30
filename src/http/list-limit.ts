import { GatewayError } from '../core/errors.ts'

/** Parses the parameter `limit` of a list. Throws `invalid_request` for anything but a whole number from 1 to `most`. */
export function parseListLimit(text: string, most: number): number {
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit
  throw new GatewayError('invalid_request', `limit: expected a whole number from 1 to ${most}, got \`${text}\`.`)
}
