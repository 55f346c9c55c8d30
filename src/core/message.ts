import { z } from 'zod'

/** Explains what is wrong, at most three faults: `messages[0].content[1].text: expected string; …`. */
export function explain(error: z.ZodError): string {
  return error.issues
    .slice(0, 3)
    .map((i) => `${i.path.join('.')}: ${i.message}`)
    .join('; ')
}
const block = z.looseObject({ type: z.string() })
export type ContentBlock = z.infer<typeof block> & Record<string, unknown>
const message = z.looseObject({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), z.array(block)]),
})
export type Message = z.infer<typeof message>
export type Tool = Record<string, unknown>
const scalars = {
  model: z.string().min(1),
  max_tokens: z.int().positive(),
  temperature: z.number().min(0).max(2).nullish(),
  top_k: z.int().positive().nullish(),
  stream: z.boolean().nullish(),
}
export const scalarFieldsSchema = z.looseObject(scalars)
export const messageRequestSchema = z.looseObject({ ...scalars, messages: z.array(message) })
export type MessageRequest = z.infer<typeof messageRequestSchema>
