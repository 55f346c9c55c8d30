import { isObject, type JsonObject } from '../../../core/json/json-value.ts'

/** The value when it is an object, else `undefined`. */
export function recordOf(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

/** The value when it is a string, else ''. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The value when it is an array, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
