import type { Losses } from '../core/losses.ts'
import type { Reply } from '../core/reply.ts'

/** Says in the reply's headers what of the request was not carried to the provider. */
export function tellLosses<Given extends Reply>(reply: Given, { dropped }: Losses): Given {
  if (dropped.length > 0) reply.headers['x-svc-dropped'] = dropped.join(', ')
  return reply
}
