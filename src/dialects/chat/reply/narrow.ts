import { isObject, type JsonObject } from '../../../core/json/json-value.ts'

/** Returns the value when it is an object, else `undefined`. */
export function recordOf(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

/** Returns the value when it is a string, else ''. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Returns the value when it is an array, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
