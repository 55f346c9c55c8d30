import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import type { RequestDocument } from '../../../core/request/request.ts'
import { dropLeftovers, isNothing } from './json-value.ts'
import { isStrictSchema } from './strict-schema.ts'

/** Name of the schema: required by chat completions, absent in Messages. */
const SCHEMA_NAME = 'answer'
const OUTPUT_CONFIG = { known: new Set(['effort', 'format']), place: 'output_config' }

/** Returns `response_format` for `output_config.format`, or for `output_format`, its earlier name. */
export function toResponseFormat(request: RequestDocument, droppedFields: DroppedFields): JsonObject | undefined {
  const config = request.field('output_config')
  if (isObject(config)) dropLeftovers(config, OUTPUT_CONFIG, droppedFields)
  const format = (isObject(config) ? config.format : undefined) ?? request.field('output_format')
  if (isNothing(format)) return undefined
  if (isObject(format) && format.type === 'json_object') return { type: 'json_object' }
  if (isObject(format) && format.type === 'json_schema' && isObject(format.schema))
    return ofSchema(format.schema, droppedFields)
  droppedFields.refuse('output_config.format', 'only json_schema and json_object are known to this provider')
  return undefined
}

/** Converts a schema. OpenAI refuses one that does not meet its rules for strictness, so it is sent as advice. */
function ofSchema(schema: JsonObject, droppedFields: DroppedFields): JsonObject {
  const strict = isStrictSchema(schema)
  if (!strict) droppedFields.drop('output_config.format.strict')
  return { type: 'json_schema', json_schema: { name: SCHEMA_NAME, schema, strict } }
}
