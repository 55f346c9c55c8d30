import { isJsonObject, type JsonObject } from '../json.ts'

const forbidden = ['oneOf', 'allOf', 'not', 'if', 'then', 'else', 'patternProperties', 'dependentRequired']
const kinds = ['type', 'anyOf', '$ref']

/**
 * Finds the fault that excludes a JSON schema from OpenAI's strict mode, as its error words it; `undefined` for none.
 * The rules are those of the Structured Outputs guide, "Supported schemas": every schema typed, every
 * object closed, every property required, no composition but `anyOf`.
 */
export function findStrictFault(schema: JsonObject, context: readonly string[] = []): string | undefined {
  const keyword = forbidden.find((name) => schema[name] !== undefined)
  if (keyword !== undefined) return `In context=${toTuple(context)}, '${keyword}' is not permitted.`
  if (!kinds.some((name) => schema[name] !== undefined)) {
    return `In context=${toTuple(context)}, schema must have a 'type' key.`
  }
  const types = [schema.type].flat()
  const fault = types.includes('object') ? findObjectFault(schema, context) : undefined
  if (fault !== undefined) return fault
  for (const [path, inner] of innerSchemas(schema)) {
    const deeper = findStrictFault(inner, [...context, ...path])
    if (deeper !== undefined) return deeper
  }
  return undefined
}

function findObjectFault(schema: JsonObject, context: readonly string[]): string | undefined {
  if (schema.additionalProperties !== false) {
    return `In context=${toTuple(context)}, 'additionalProperties' is required to be supplied and to be false.`
  }
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : []
  const names = Object.keys(isJsonObject(schema.properties) ? schema.properties : {})
  const missing = names.find((name) => !required.includes(name))
  if (missing === undefined) return undefined
  const rule = "'required' is required to be supplied and to be an array including every key in properties."
  return `In context=${toTuple(context)}, ${rule} Missing '${missing}'.`
}

function innerSchemas(schema: JsonObject): [path: string[], schema: JsonObject][] {
  const found: [string[], unknown][] = [[['items'], schema.items]]
  for (const key of ['properties', '$defs', 'definitions', 'anyOf']) {
    for (const [name, inner] of Object.entries(schema[key] ?? {})) found.push([[key, name], inner])
  }
  return found.flatMap(([path, inner]) => (isJsonObject(inner) ? [[path, inner]] : []))
}

/** Prints the path as the error does: a Python tuple. */
function toTuple(path: readonly string[]): string {
  return `(${path.map((step) => `'${step}'`).join(', ')}${path.length === 1 ? ',' : ''})`
}
