import type { z } from 'zod'
import type { OptionMeta } from './schema.ts'

/** Option of the configuration, found by walking the schema. */
export interface Option extends OptionMeta {
  readonly path: readonly string[]
  readonly schema: z.ZodType
  readonly defaultValue: unknown
}

/** Memo of the walk: it takes milliseconds for hundreds of options, and each fault of a configuration needs it. */
const LISTED = new WeakMap<z.ZodType, readonly Option[]>()

/** Placeholder in a path for a name that the operator chooses. */
export const ANY_NAME = '<name>'

/**
 * Lists every option of an object schema, depth first, in order of declaration; options of sections that the operator
 * names come last, under `<name>`.
 */
export function listOptions(schema: z.ZodType, path: readonly string[] = []): readonly Option[] {
  if (path.length > 0) return optionsBelow(schema, path)
  const known = LISTED.get(schema)
  if (known !== undefined) return known
  const options = optionsBelow(schema, [])
  LISTED.set(schema, options)
  return options
}

function optionsBelow(schema: z.ZodType, path: readonly string[]): Option[] {
  const shape = shapeOf(schema)
  if (shape === undefined) return [{ path, schema, defaultValue: defaultOf(schema), ...metaOf(schema) }]
  const named = Object.entries(shape).flatMap(([key, child]) => optionsBelow(child, [...path, key]))
  const any = sectionOfAnyName(schema)
  return any === undefined ? named : [...named, ...optionsBelow(any, [...path, ANY_NAME])]
}

/** Returns the schema of an object's operator-named sections; `undefined` when there are none. */
function sectionOfAnyName(schema: z.ZodType): z.ZodType | undefined {
  const { catchall } = unwrap(schema).def
  return catchall !== undefined && shapeOf(catchall) !== undefined ? catchall : undefined
}

/** Returns the members of an object schema, through its wrappers; `undefined` when it is not an object. */
export function shapeOf(schema: z.ZodType): Record<string, z.ZodType> | undefined {
  const { def } = unwrap(schema)
  return def.type === 'object' ? def.shape : undefined
}

/** Returns the schema of one member of an object, or of a map's values. */
export function memberOf(schema: z.ZodType, key: string): z.ZodType | undefined {
  return shapeOf(schema)?.[key] ?? sectionOfAnyName(schema) ?? unwrap(schema).def.valueType
}

interface Definition {
  type: string
  shape?: Record<string, z.ZodType>
  catchall?: z.ZodType
  innerType?: z.ZodType
  in?: z.ZodType
  element?: z.ZodType
  valueType?: z.ZodType
  entries?: Record<string, string>
  options?: readonly z.ZodType[]
  values?: readonly unknown[]
  defaultValue?: unknown
}

/** Returns zod's definition object, as documented for library authors. */
function definitionOf(schema: z.ZodType): Definition {
  return schema.def as unknown as Definition
}

function unwrap(schema: z.ZodType): { schema: z.ZodType; def: Definition } {
  const def = definitionOf(schema)
  return def.innerType === undefined ? { schema, def } : unwrap(def.innerType)
}

function metaOf(schema: z.ZodType): OptionMeta {
  const def = definitionOf(schema)
  const inner = def.innerType === undefined ? {} : metaOf(def.innerType)
  return { ...inner, ...(schema.meta() as OptionMeta | undefined) }
}

function defaultOf(schema: z.ZodType): unknown {
  const def = definitionOf(schema)
  if (def.type === 'default' || def.type === 'prefault') return def.defaultValue
  return def.innerType === undefined ? undefined : defaultOf(def.innerType)
}

/** Returns a short name of an option's type for documentation: `text`, `number`, `a | b`, `list`, … */
export function typeNameOf(schema: z.ZodType): string {
  const { def } = unwrap(schema)
  if (def.type === 'enum')
    return Object.values(def.entries ?? {})
      .map((value) => `\`${value}\``)
      .join(' or ')
  if (def.type === 'union') return (def.options ?? []).map(typeNameOf).join(' or ')
  if (def.type === 'literal') return (def.values ?? []).map((value) => `\`${value}\``).join(' or ')
  if (def.type === 'pipe') return 'text with a unit'
  const names: Record<string, string> = {
    string: 'text',
    number: 'number',
    boolean: '`true` or `false`',
    array: 'list',
    record: 'map',
  }
  return names[def.type] ?? def.type
}

/** Tests for a list option. */
export function isList(schema: z.ZodType): boolean {
  return unwrap(schema).def.type === 'array'
}
