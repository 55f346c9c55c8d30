import type { Exchange } from 'turnpike/plugin'
import { createFieldsDigest, type DigestReach, requestIdentity, type SharingScope } from 'turnpike/plugin/cache'

/** Fields that do not change the reply; the model is compared as the provider names it, in the target. */
const NOT_IN_KEY = new Set(['stream', 'metadata', 'model'])
/**
 * Excluded fields of another dialect: `stream` counts there, since its replies are not converted from one kind to the
 * other.
 */
const NOT_IN_OTHERS_KEY = new Set(['model'])

const DIGESTS = { process: digestsFor('process'), everywhere: digestsFor('everywhere') }

/** Functions that digest the fields of a request, with the names under which it remembers the results. */
function digestsFor(reach: DigestReach) {
  return {
    fields: [Symbol('exact-cache fields'), createFieldsDigest(NOT_IN_KEY, reach)],
    otherFields: [Symbol('exact-cache fields of another dialect'), createFieldsDigest(NOT_IN_OTHERS_KEY, reach)],
  } as const
}

/** The callers that share a key, and the processes that know it. */
export interface KeyReach {
  readonly scope: SharingScope
  readonly reach: DigestReach
}

/** Returns the key of an exchange: SHA-256 of everything that can change the reply. */
export function cacheKey(exchange: Exchange, { scope, reach }: KeyReach): string {
  return requestIdentity(exchange, { scope, module: 'exact-cache', asked: requestDigest(exchange, reach) })
}

/**
 * Returns the digest of the request. In another dialect a request may have fields that the canonical shape lacks, so
 * everything the client sent counts, plus the edits of plugins.
 */
function requestDigest(exchange: Exchange, reach: DigestReach): string {
  const { fields, otherFields } = DIGESTS[reach]
  const { client, dialect, isEdited } = exchange
  if (dialect.name === 'messages') return exchange.request.memo(...fields)
  const sent = client.document.memo(...otherFields)
  const edited = isEdited ? exchange.request.memo(...fields) : ''
  return `${dialect.name}${client.purpose} ${sent} ${edited}`
}
