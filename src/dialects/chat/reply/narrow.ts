/** A JSON object whose members are not known yet. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** Whether the JSON value is an object. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value when it is an object, else `undefined`. */
export function recordOf(value: unknown): JsonRecord | undefined {
  return isRecord(value) ? value : undefined
}

/** The value when it is a string, else ''. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The value when it is an array, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
