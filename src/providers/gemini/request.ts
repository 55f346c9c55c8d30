/**
 * DESIGN: Messages requests as bodies of Gemini's `generateContent` and `countTokens` (Gemini API v1beta).
 *
 * Guarantees: everything that the model reads is a slice of the client's bytes, so 1.0, 2^53+1 and the order of keys survive
 * in inputs and schemas. Every field of the request is translated, dropped by name, or refused by path.
 * Limits: `model` and `stream` are in the address, not in the body. Checks that only the provider can make (sizes of data,
 * names of tools, calls without results) are left to it.
 */

import { readJson } from '../../core/json/json-error.ts'
import { latin1Of } from '../../core/json/raw-json.ts'
import { DroppedFields } from '../../core/request/dropped-fields.ts'
import { outlineOf } from '../../core/request/long-texts.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { refuseServerSideThread } from '../../core/request/server-side-thread.ts'
import { traitsOf } from './model-traits.ts'
import { dropOthers, printGiven, type Translation } from './raw-fields.ts'
import { toGenerationConfig } from './request-config.ts'
import { toConversation } from './request-contents.ts'
import { toToolFields } from './request-tools.ts'

/** A body for Gemini, and the dropped fields. */
export interface GeminiTranslation {
  readonly bytes: Buffer
  readonly droppedFields: DroppedFields
}

const TRANSLATED = new Set([
  ...['model', 'stream', 'messages', 'system', 'tools', 'tool_choice', 'max_tokens', 'temperature', 'top_p', 'top_k'],
  ...['stop_sequences', 'thinking', 'output_config', 'output_format', 'mcp_servers', 'container'],
])
/** Fields that would change the answer, with the values that mean the same as absent. */
const UNTRANSLATABLE = new Map([
  ['mcp_servers', new Set(['null', '[]'])],
  ['container', new Set(['null', '{}', '""'])],
])

/** Translates a Messages request to a body of `generateContent`. `assumed`: fields that the client did not send. */
export function toGeminiRequest(
  request: RequestDocument,
  { model, assumed }: { model: string; assumed: readonly string[] },
): GeminiTranslation {
  return readJson(request.bytes, () => {
    const { document, restore } = outlineOf(request)
    const translation = begin(document, model)
    const prompt = toPrompt(document, translation)
    const generationConfig = toGenerationConfig(document, { ...translation, assumed })
    return { bytes: restore(toBytes({ ...prompt, generationConfig })), droppedFields: translation.droppedFields }
  })
}

/** Translates a Messages request to a body of `countTokens`: only the fields that the model reads are counted. */
export function toCountTokensRequest(request: RequestDocument, { model }: { model: string }): GeminiTranslation {
  const translation = begin(request, model)
  const prompt = readJson(request.bytes, () => toPrompt(request, translation))
  const named = { model: latin1Of(JSON.stringify(`models/${model}`)), ...prompt }
  return { bytes: toBytes({ generateContentRequest: printGiven(named) }), droppedFields: translation.droppedFields }
}

/** Throws `invalid_request` for a request that leaves messages to its provider. */
function begin(request: RequestDocument, model: string): Translation {
  refuseServerSideThread(request)
  const droppedFields = new DroppedFields()
  // Only for fields that are not read later: the values of the others can be large.
  const read = (name: string) => (TRANSLATED.has(name) ? '' : (request.raw(name)?.toString('latin1') ?? 'null'))
  const fields = new Map(Array.from(request.shape.fields.keys(), (name) => [name, read(name)]))
  dropOthers(fields, TRANSLATED, { droppedFields, prefix: '' })
  for (const [name, absent] of UNTRANSLATABLE) {
    const value = JSON.stringify(request.field(name) ?? null)
    if (!absent.has(value)) droppedFields.refuse(name, 'Gemini has no equivalent; remove it')
  }
  return { droppedFields, traits: traitsOf(model) }
}

function toPrompt(request: RequestDocument, translation: Translation): Record<string, string | undefined> {
  const { contents, system } = toConversation(request, translation)
  return {
    systemInstruction: system.length === 0 ? undefined : printGiven({ parts: `[${system.join(',')}]` }),
    contents: `[${contents.join(',')}]`,
    ...toToolFields(request, translation),
  }
}

function toBytes(members: Readonly<Record<string, string | undefined>>): Buffer {
  return Buffer.from(printGiven(members), 'latin1')
}
