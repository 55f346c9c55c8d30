import type { z } from 'zod'
import { type Option, shapeOf, typeNameOf } from '../../src/config/options.ts'
import { code } from './markdown.ts'

/** The parts of zod's definition objects that tell more than `typeNameOf` does. */
interface Definition {
  readonly type: string
  readonly innerType?: z.ZodType
  readonly valueType?: z.ZodType
}

interface NumberSchema {
  readonly minValue: number | null
  readonly maxValue: number | null
}

/** An option's type with its range: `number from 1 to 10`, `duration between 1s and 5m`. */
export function describeType(schema: z.ZodType): string {
  const inner = unwrapped(schema)
  if (inner.def.type === 'number') return `number${rangeOf(inner as unknown as NumberSchema)}`
  return rangeWithUnit(inner) ?? typeNameOf(schema)
}

/** An option's default as it would stand in the configuration file, or `unset`. */
export function describeDefault({ defaultValue }: Pick<Option, 'defaultValue'>): string {
  return defaultValue === undefined ? 'unset' : code(printValue(defaultValue))
}

/** A value in YAML that is JSON too, except that text which needs no quotes has none. */
export function printValue(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[A-Za-z0-9./][\w./:-]*$/.test(value) && !value.endsWith(':')
  return isPlain ? value : JSON.stringify(value)
}

/** What may stand inside the values of a map of maps, one sentence each: `min`: Smallest value a caller may give. */
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

/** Durations and sizes keep their bounds to themselves and tell them in their error, which is where they are read. */
function rangeWithUnit(schema: z.ZodType): string | undefined {
  if (schema.def.type !== 'pipe') return undefined
  const message = schema.safeParse('').error?.issues[0]?.message
  return /expected an? (\w+ between \S+ and \S+)/.exec(message ?? '')?.[1]
}
