/** A JSON object whose values are not known yet. */
export type JsonObject = Record<string, unknown>

/** Returns whether `value` is an object that is neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses JSON text; `undefined` when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the value at a dotted path, e.g. `valueAt(json, 'error.type')` or `'content.0.text'`; `undefined` when absent. */
export function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, step) => {
    if (typeof inner !== 'object' || inner === null) return undefined
    return Object.hasOwn(inner, step) ? Reflect.get(inner, step) : undefined
  }, value)
}
