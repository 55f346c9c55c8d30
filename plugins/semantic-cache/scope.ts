import { hash } from 'node:crypto'
import type { Exchange } from 'turnpike/plugin'
import { createFieldsDigest, requestIdentity, type SharingScope } from 'turnpike/plugin/cache'
import { RULES_VERSION } from './canonical/canonical.ts'
import type { Question } from './question.ts'

/** `messages` go in without the last text; the model as the provider sees it, in the target. */
const NOT_IN_SCOPE = new Set(['messages', 'stream', 'metadata', 'model'])
/** Replies of other dialects are not turned from JSON into streams, so `stream` counts there. */
const NOT_IN_OTHERS_SCOPE = new Set(['messages', 'model'])
const digestFields = createFieldsDigest(NOT_IN_SCOPE)
const digestOthersFields = createFieldsDigest(NOT_IN_OTHERS_SCOPE)

/**
 * The scope of a question: a SHA-256 over everything that can change its answer but the last user text itself. Texts are
 * compared only within one scope.
 */
export function scopeOf(exchange: Exchange, { document, context }: Question, scope: SharingScope): string {
  const dialect = exchange.dialect.name
  const fields = dialect === 'messages' ? digestFields(document) : digestOthersFields(document)
  const asked = [dialect, fields, hash('sha256', context, 'base64url'), RULES_VERSION].join(' ')
  return requestIdentity(exchange, { scope, module: 'semantic-cache', asked })
}
