import { hash } from 'node:crypto'
import type { Exchange } from 'turnpike/plugin'
import { createFieldsDigest, requestIdentity, type SharingScope } from 'turnpike/plugin/cache'
import { RULES_VERSION } from './canonical/canonical.ts'
import type { Question } from './question.ts'

/**
 * Excluded fields: `messages` are hashed without the last text; the model as the provider names it is in the target.
 */
const NOT_IN_SCOPE = new Set(['messages', 'stream', 'metadata', 'model'])
/**
 * Excluded fields of other dialects: their replies are not converted from JSON to streams, so `stream` counts there.
 */
const NOT_IN_OTHERS_SCOPE = new Set(['messages', 'model'])
const digestFields = createFieldsDigest(NOT_IN_SCOPE)
const digestOthersFields = createFieldsDigest(NOT_IN_OTHERS_SCOPE)

/**
 * Returns the scope of a question: a SHA-256 over everything but the last user text that can change its answer. Texts
 * are compared only within one scope.
 */
export function scopeOf(exchange: Exchange, { document, context }: Question, scope: SharingScope): string {
  const dialect = exchange.dialect.name
  const fields = dialect === 'messages' ? digestFields(document) : digestOthersFields(document)
  const request = [dialect, fields, hash('sha256', context, 'base64url'), RULES_VERSION].join(' ')
  return requestIdentity(exchange, { scope, module: 'semantic-cache', asked: request })
}
