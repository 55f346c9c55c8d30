import { isObject, type JsonObject } from '../../../core/json/json-value.ts'

/**
 * Thrown for an invalid value in a chat body. The translation is the fast check: it checks everything that it reads.
 * The schema, which is slower, is used only then, for the error message.
 */
export class ChatFault extends Error {
  constructor(path: string, expected: string) {
    super(`${path}: expected ${expected}`)
  }
}

/** Returns `value` as an object. Throws `ChatFault`. */
export function objectAt(value: unknown, path: string): JsonObject {
  if (!isObject(value)) throw new ChatFault(path, 'an object')
  return value
}

/** Returns `value` as a string. Throws `ChatFault`. */
export function textAt(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new ChatFault(path, 'a string')
  return value
}

/** Returns `value` as an array; absent and null are empty. Throws `ChatFault`. */
export function listAt(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new ChatFault(path, 'an array')
  return value
}

/** Returns `value` as a boolean; absent and null are `undefined`. Throws `ChatFault`. */
export function flagAt(value: unknown, path: string): boolean | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'boolean') throw new ChatFault(path, 'a boolean')
  return value
}

/** Returns `value` as a number from `least` to `most`; absent and null are `undefined`. Throws `ChatFault`. */
export function numberAt(value: unknown, path: string, [least, most]: readonly [number, number]): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || value < least || value > most)
    throw new ChatFault(path, `a number from ${least} to ${most}`)
  return value
}

/** Returns `value` as a whole number of 1 or more; absent and null are `undefined`. Throws `ChatFault`. */
export function countAt(value: unknown, path: string): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1)
    throw new ChatFault(path, 'a whole number of 1 or more')
  return value
}
