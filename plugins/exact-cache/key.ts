import type { Exchange } from 'turnpike/plugin'
import { createFieldsDigest, requestIdentity, type SharingScope } from 'turnpike/plugin/cache'

/** Fields that do not change the answer; the model counts as the provider sees it, in the target. */
const NOT_IN_KEY = new Set(['stream', 'metadata', 'model'])
/** Of a dialect that is not the canonical one, `stream` counts: its replies are not turned from one kind into the other. */
const NOT_IN_OTHERS_KEY = new Set(['model'])

const FIELDS_DIGEST = Symbol('exact-cache fields')
const OTHER_FIELDS_DIGEST = Symbol('exact-cache fields of another dialect')
const digestFields = createFieldsDigest(NOT_IN_KEY)
const digestAllFields = createFieldsDigest(NOT_IN_OTHERS_KEY)

/** The key of an exchange: SHA-256 over everything that can change the answer. */
export function cacheKey(exchange: Exchange, scope: SharingScope): string {
  return requestIdentity(exchange, { scope, module: 'exact-cache', asked: requestDigest(exchange) })
}

/**
 * What is asked. In another dialect a request may hold what the canonical shape has no place for, so all that the client
 * sent counts, and beside it what modules have made of it.
 */
function requestDigest(exchange: Exchange): string {
  const { client, dialect, isEdited } = exchange
  if (dialect.name === 'messages') return exchange.request.fact(FIELDS_DIGEST, digestFields)
  const sent = client.document.fact(OTHER_FIELDS_DIGEST, digestAllFields)
  const edited = isEdited ? exchange.request.fact(FIELDS_DIGEST, digestFields) : ''
  return `${dialect.name} ${sent} ${edited}`
}
