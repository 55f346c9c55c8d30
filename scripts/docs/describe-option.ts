import type { z } from 'zod'
import { type Option, shapeOf, typeNameOf } from '../../src/config/options.ts'
import { code } from './markdown.ts'

/** Parts of zod's definition objects that add to `typeNameOf`. */
interface Definition {
  readonly type: string
  readonly innerType?: z.ZodType
  readonly valueType?: z.ZodType
}

interface NumberSchema {
  readonly minValue: number | null
  readonly maxValue: number | null
}

/** Returns an option's type with its range: `number from 1 to 10`, `duration between 1s and 5m`. */
export function describeType(schema: z.ZodType): string {
  const inner = unwrapped(schema)
  if (inner.def.type === 'number') return `number${rangeOf(inner as unknown as NumberSchema)}`
  return rangeWithUnit(inner) ?? typeNameOf(schema)
}

/** Returns an option's default as in the configuration file, or `unset`. */
export function describeDefault({ defaultValue }: Pick<Option, 'defaultValue'>): string {
  return defaultValue === undefined ? 'unset' : code(printValue(defaultValue))
}

/** Prints a value as YAML that is JSON too, except that text without special characters is unquoted. */
export function printValue(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[A-Za-z0-9./][\w./:-]*$/.test(value) && !value.endsWith(':')
  return isPlain ? value : JSON.stringify(value)
}

/** Describes the values of a map of maps, one sentence for each member: `min`: Smallest value a caller may give. */
export function describeMembers(schema: z.ZodType): [name: string, description: string][] {
  const { def } = unwrapped(schema)
  const { type, valueType } = def as unknown as Definition
  if (type === 'record' && valueType !== undefined) return describeMembers(valueType)
  const members = Object.entries(shapeOf(schema) ?? {})
  return members.map(([name, member]) => [name, member.description ?? ''])
}

function unwrapped(schema: z.ZodType): z.ZodType {
  const { innerType } = schema.def as unknown as Definition
  return innerType === undefined ? schema : unwrapped(innerType)
}

function rangeOf({ minValue, maxValue }: NumberSchema): string {
  const from = isBound(minValue) ? ` from ${minValue}` : ''
  const to = isBound(maxValue) ? ` to ${maxValue}` : ''
  return from + to
}

function isBound(value: number | null): value is number {
  return value !== null && Math.abs(value) < Number.MAX_SAFE_INTEGER
}

/** Reads the bounds of durations and sizes from their error message, where alone they are available. */
function rangeWithUnit(schema: z.ZodType): string | undefined {
  if (schema.def.type !== 'pipe') return undefined
  const message = schema.safeParse('').error?.issues[0]?.message
  return /expected an? (\w+ between \S+ and \S+)/.exec(message ?? '')?.[1]
}
