import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { ofSplit } from '../split.ts'

const toolSchema = z.object({
  server: z.string(),
  name: z.string(),
  description: z.string(),
  input_schema: z.looseObject({}),
})

const caseSchema = z.object({
  id: z.string(),
  set: z.string(),
  split: z.string(),
  turns: z.array(z.object({ user: z.string(), gt: z.array(z.int()) })).min(1),
  pools: z.record(z.string(), z.array(z.int()).nullable()),
})

/** Tool as a client sends it: MCP tools have their server's name as a prefix. */
export interface WireTool {
  readonly name: string
  readonly description: string
  readonly input_schema: object
}

/** User's messages, with the available tools and the needed ones. */
export interface Case {
  readonly id: string
  readonly set: string
  readonly turns: readonly { readonly user: string; readonly needed: readonly string[] }[]
  /** Available tools by their number. */
  readonly tools: ReadonlyMap<number, readonly WireTool[]>
}

/**
 * Reads `tools.jsonl` and `cases.jsonl`; of one split, or all of them. Throws for a missing file or an invalid line.
 */
export function loadCases(folder: string, split: string | undefined): Case[] {
  const tools = readLines(path.join(folder, 'tools.jsonl'), toolSchema).map(toWire)
  // Safe: the data refer to existing lines, and a wrong reference fails at its first use.
  const at = (index: number) => tools[index]!
  const cases = readLines(path.join(folder, 'cases.jsonl'), caseSchema)
  return ofSplit(cases, split, folder).map(({ id, set, turns, pools }) => ({
    id,
    set,
    turns: turns.map(({ user, gt }) => ({ user, needed: [...new Set(gt.map((index) => at(index).name))] })),
    tools: new Map(Object.entries(pools).flatMap(([size, pool]) => (pool ? [[Number(size), pool.map(at)]] : []))),
  }))
}

function readLines<Line>(file: string, schema: z.ZodType<Line>): Line[] {
  if (!existsSync(file))
    throw new Error(`Expected \`--data\` to be a folder with ${path.basename(file)}, got none there`)
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line, i) => {
    const read = schema.safeParse(JSON.parse(line))
    if (!read.success) throw new Error(`${file}:${i + 1}: ${z.prettifyError(read.error)}`)
    return read.data
  })
}

function toWire({ server, name, description, input_schema }: z.infer<typeof toolSchema>): WireTool {
  const prefix = server === '' ? '' : `mcp__${server.replace(/[^\w-]/g, '_')}__`
  return { name: prefix + name, description, input_schema }
}
