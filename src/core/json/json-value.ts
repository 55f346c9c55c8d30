/** A parsed JSON object whose members are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Parses JSON; returns `undefined` for anything else: a proxy's HTML page, a truncated body, OpenAI's `[DONE]`. */
export function tryParseJson(json: Buffer | string): unknown {
  try {
    return JSON.parse(json.toString())
  } catch {
    return undefined
  }
}

/** Returns whether a value is an object, neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
