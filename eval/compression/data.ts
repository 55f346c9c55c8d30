import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { messageRequestSchema } from '../../src/core/request/message.ts'
import { ofSplit } from '../split.ts'

const { messages } = messageRequestSchema.shape

const trajectorySchema = z.object({
  id: z.string(),
  split: z.enum(['dev', 'test']),
  system: z.string().default(''),
  messages,
  needles: z.array(z.tuple([z.string(), z.int(), z.int()])),
})

const edgeCaseSchema = z.object({
  id: z.string(),
  request: z.looseObject({ messages }),
  must_keep: z.array(z.string()),
})

/**
 * Whole session. A needle is `[value, first, referring]`: a fact from a tool's result in message `first` that the
 * assistant's message `referring` uses, so that the model must see it at that moment.
 */
export type Trajectory = z.infer<typeof trajectorySchema>

/** Request with texts that any rewriting must preserve. */
export type EdgeCase = z.infer<typeof edgeCaseSchema>

/** Loads the sessions in a folder, of one split or of all. Throws an `Error` that names the invalid file and line. */
export function loadTrajectories(folder: string, split?: string): Trajectory[] {
  const all = loadLines(path.join(folder, 'trajectories.jsonl'), trajectorySchema)
  return ofSplit(all, split, folder)
}

/** Loads the edge cases in a folder. */
export function loadEdgeCases(folder: string): EdgeCase[] {
  return loadLines(path.join(folder, 'edge-cases.jsonl'), edgeCaseSchema)
}

function loadLines<Schema extends z.ZodType>(file: string, schema: Schema): z.output<Schema>[] {
  if (!existsSync(file))
    throw new Error(`Expected \`--data\` to be a folder with ${path.basename(file)}, got none there`)
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return []
    const parsed = schema.safeParse(JSON.parse(line))
    if (parsed.success) return [parsed.data]
    throw new Error(`${path.basename(file)}, line ${index + 1}: ${z.prettifyError(parsed.error)}`)
  })
}

const CODING = /^(?:koa|express)-/

/** Returns the set of a session, by its id: coding sessions are of two repositories. */
export function setOf({ id }: Pick<Trajectory, 'id'>): string {
  return CODING.test(id) ? 'coding' : (id.split('-')[0] ?? id)
}
