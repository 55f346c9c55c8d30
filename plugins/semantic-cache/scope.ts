import { hash } from 'node:crypto'
import type { Exchange, RequestDocument } from 'turnpike/plugin'
import { createFieldsDigest, requestIdentity, type SharingScope } from 'turnpike/plugin/cache'
import { RULES_VERSION } from './canonical/canonical.ts'
import type { Question } from './question.ts'

/**
 * Digests of the fields, by dialect. Excluded are the conversation, which is hashed without the last text, and the model,
 * which the target has as the provider names it. Only replies of Messages are converted from JSON to streams and back.
 */
const digests: ReadonlyMap<string, (document: RequestDocument) => string> = new Map([
  ['messages', createFieldsDigest(new Set(['messages', 'stream', 'metadata', 'model']))],
  ['chat', createFieldsDigest(new Set(['messages', 'model']))],
  ['responses', createFieldsDigest(new Set(['input', 'model']))],
])
const digestAllFields = createFieldsDigest(new Set())

/**
 * Returns the scope of a question: a SHA-256 over everything but the last user text that can change its answer. Texts
 * are compared only within one scope.
 */
export function scopeOf(exchange: Exchange, { document, context }: Question, scope: SharingScope): string {
  const dialect = exchange.dialect.name
  const fields = (digests.get(dialect) ?? digestAllFields)(document)
  const request = [dialect, fields, hash('sha256', context, 'base64url'), RULES_VERSION].join(' ')
  return requestIdentity(exchange, { scope, module: 'semantic-cache', asked: request })
}
