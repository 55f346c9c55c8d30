import { isObject } from '../../../core/json/json-value.ts'

/** What says of which kind a value is; one of them must stand in every schema. */
const KINDS = ['type', 'anyOf', '$ref']
const FORBIDDEN = ['oneOf', 'allOf', 'not', 'if', 'then', 'else', 'patternProperties', 'dependentRequired']
/** Members that hold schemas by name, in a list, or one. */
const NAMED = ['properties', '$defs', 'definitions']
const LISTED = ['anyOf', 'prefixItems']

/**
 * Tells whether OpenAI takes the schema as strict: every schema of a known kind, every object closed and with all of its
 * properties required, nothing composed but by `anyOf` (OpenAI, "Structured outputs", "Supported schemas"). Messages
 * demands less, and OpenAI refuses what it cannot hold to.
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
