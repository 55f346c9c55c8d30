import type { z } from 'zod'

/** Reads what another process has told; `undefined`: it is of another version, or not of this gateway. */
export function readText<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
