import { isObject } from '../../../core/json/json-value.ts'

/** Keywords that define a value's kind; every schema must have one of them. */
const KINDS = ['type', 'anyOf', '$ref']
const FORBIDDEN = ['oneOf', 'allOf', 'not', 'if', 'then', 'else', 'patternProperties', 'dependentRequired']
/** Keywords that hold schemas by name, in a list, or one. */
const NAMED = ['properties', '$defs', 'definitions']
const LISTED = ['anyOf', 'prefixItems']

/**
 * Returns true when OpenAI accepts the schema as strict: every schema of a known kind, every object closed and with all of
 * its properties required, no composition but `anyOf` (OpenAI, "Structured outputs", "Supported schemas"). Messages
 * requires less, and OpenAI refuses other schemas.
 */
export function isStrictSchema(schema: unknown): boolean {
  if (!isObject(schema)) return false
  if (!KINDS.some((name) => schema[name] !== undefined)) return false
  if (FORBIDDEN.some((name) => schema[name] !== undefined)) return false
  const isOfObjects = [schema.type].flat().includes('object') || isObject(schema.properties)
  if (isOfObjects && !isClosed(schema)) return false
  const named = NAMED.flatMap((name) => (isObject(schema[name]) ? Object.values(schema[name]) : []))
  const listed = LISTED.flatMap((name) => (Array.isArray(schema[name]) ? schema[name] : []))
  const items = schema.items === undefined ? [] : [schema.items]
  return [...named, ...listed, ...items].every(isStrictSchema)
}

function isClosed({ properties, required, additionalProperties }: Readonly<Record<string, unknown>>): boolean {
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  return (
    additionalProperties === false &&
    Object.keys(isObject(properties) ? properties : {}).every((name) => names.includes(name))
  )
}
