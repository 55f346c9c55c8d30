import type { Exchange } from 'turnpike/plugin'
import { createFieldsDigest, requestIdentity, type SharingScope } from 'turnpike/plugin/cache'

/** Fields that do not change the reply; the model is compared as the provider names it, in the target. */
const NOT_IN_KEY = new Set(['stream', 'metadata', 'model'])
/**
 * Excluded fields of another dialect: `stream` counts there, since its replies are not converted from one kind to the
 * other.
 */
const NOT_IN_OTHERS_KEY = new Set(['model'])

const FIELDS_DIGEST = Symbol('exact-cache fields')
const OTHER_FIELDS_DIGEST = Symbol('exact-cache fields of another dialect')
const digestFields = createFieldsDigest(NOT_IN_KEY)
const digestAllFields = createFieldsDigest(NOT_IN_OTHERS_KEY)

/** Returns the key of an exchange: SHA-256 of everything that can change the reply. */
export function cacheKey(exchange: Exchange, scope: SharingScope): string {
  return requestIdentity(exchange, { scope, module: 'exact-cache', asked: requestDigest(exchange) })
}

/**
 * Returns the digest of the request. In another dialect a request may have fields that the canonical shape lacks, so
 * everything the client sent counts, plus the edits of plugins.
 */
function requestDigest(exchange: Exchange): string {
  const { client, dialect, isEdited } = exchange
  if (dialect.name === 'messages') return exchange.request.memo(FIELDS_DIGEST, digestFields)
  const sent = client.document.memo(OTHER_FIELDS_DIGEST, digestAllFields)
  const edited = isEdited ? exchange.request.memo(FIELDS_DIGEST, digestFields) : ''
  return `${dialect.name}${client.purpose} ${sent} ${edited}`
}
