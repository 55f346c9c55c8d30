import type { z } from 'zod'

/** Parses a message of another process; `undefined` when it is of another version or of another sender. */
export function readText<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
