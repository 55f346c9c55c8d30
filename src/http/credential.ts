import { GatewayError } from '../core/errors.ts'
import type { PresentedCredential } from '../core/ports.ts'

const BEARER = /^Bearer +(\S+) *$/i

/** The caller's credential: `Authorization: Bearer …`, or `x-api-key` as its equal. Throws `authentication_error`. */
export function presentedCredential(headers: NodeJS.Dict<string | string[]>): PresentedCredential {
  const bearer = BEARER.exec(single(headers.authorization) ?? '')?.[1]
  if (bearer !== undefined) return { header: 'authorization', secret: bearer }
  const key = single(headers['x-api-key'])?.trim()
  if (key) return { header: 'x-api-key', secret: key }
  throw new GatewayError(
    'authentication_error',
    'Expected a credential in `Authorization: Bearer <API_KEY>` or in `x-api-key`.',
  )
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
