import { elementsOf, isString, type Members, objectOf } from '../../core/json/raw-json.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { dropOthers, given, printGiven, type Translation, textOf } from './raw-fields.ts'
import { nameOf } from './request-parts.ts'
import { toThinkingConfig } from './request-thinking.ts'

const MOST_STOP_SEQUENCES = 5
const KNOWN_OUTPUT = new Set(['effort', 'format'])
const KNOWN_FORMAT = new Set(['type', 'schema'])

/**
 * Translates the settings of a request to a raw `generationConfig`; `undefined` when there are none. A `max_tokens` that
 * the gateway has `assumed` is not sent, so that the model's own limit holds.
 */
export function toGenerationConfig(
  request: RequestDocument,
  { assumed, ...translation }: Translation & { assumed: readonly string[] },
): string | undefined {
  const config = printGiven({
    maxOutputTokens: assumed.includes('max_tokens') ? undefined : rawOf(request, 'max_tokens'),
    temperature: rawOf(request, 'temperature'),
    topP: rawOf(request, 'top_p'),
    topK: rawOf(request, 'top_k'),
    stopSequences: toStopSequences(rawOf(request, 'stop_sequences'), translation),
    ...toFormat(request, translation),
    thinkingConfig: toThinkingConfig(request, translation),
  })
  return config === '{}' ? undefined : config
}

function rawOf(request: RequestDocument, name: string): string | undefined {
  const raw = request.raw(name)?.toString('latin1')
  return raw === 'null' ? undefined : raw
}

function toStopSequences(raw: string | undefined, { droppedFields }: Translation): string | undefined {
  const count = raw === undefined ? 0 : elementsOf(raw).length
  if (count > MOST_STOP_SEQUENCES) {
    droppedFields.refuse('stop_sequences', `Gemini accepts at most ${MOST_STOP_SEQUENCES} of them, got ${count}`)
  }
  return count === 0 ? undefined : raw
}

function toFormat(request: RequestDocument, translation: Translation): Record<string, string | undefined> {
  const output = objectOf(rawOf(request, 'output_config'))
  if (output !== undefined)
    dropOthers(output, KNOWN_OUTPUT, { droppedFields: translation.droppedFields, prefix: 'output_config.' })
  // `output_format` is the field's name from before `output_config`.
  const format = objectOf(output && given(output, 'format')) ?? objectOf(rawOf(request, 'output_format'))
  return format === undefined ? {} : responseFormat(format, translation)
}

function responseFormat(format: Members, { droppedFields }: Translation): Record<string, string | undefined> {
  const type = textOf(format.get('type'))
  const schema = given(format, 'schema')
  if (type !== 'json_object' && (type !== 'json_schema' || schema === undefined || isString(schema))) {
    droppedFields.refuse('output_config.format', `Gemini has no equivalent of a format of type ${nameOf(type)}`)
    return {}
  }
  dropOthers(format, KNOWN_FORMAT, { droppedFields, prefix: 'output_config.format.' })
  return { responseMimeType: '"application/json"', responseJsonSchema: type === 'json_schema' ? schema : undefined }
}
