import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'

/** Two prompts, a label for a shared answer, and the kind of pair. */
export interface EvalPair {
  readonly a: string
  readonly b: string
  readonly isSame: boolean
  readonly kind: string
}

/** Prompt with its answer. */
export interface EvalRequest {
  readonly text: string
  readonly answer: string
}

/** Contents of a folder, by file. */
export interface EvalData {
  readonly pairs: ReadonlyMap<string, readonly EvalPair[]>
  /** Requests that repeat a few questions in different words. */
  readonly questions: ReadonlyMap<string, readonly EvalRequest[]>
  /** Requests of which those with the same intent count as having the same answer: a coarse measure. */
  readonly intents: ReadonlyMap<string, readonly EvalRequest[]>
}

/** Half of the data: `dev` for tuning, `test` for reporting. */
export type Split = 'dev' | 'test' | 'all'

const pairSchema = z.object({
  a: z.string(),
  b: z.string(),
  y: z.union([z.literal(0), z.literal(1)]).optional(),
  same: z.boolean().optional(),
  kind: z.string(),
  t: z.number().optional(),
})
const questionsSchema = z.array(z.tuple([z.string(), z.number(), z.array(z.string())]))
const intentsSchema = z.record(z.string(), z.array(z.tuple([z.string(), z.string()])))

/**
 * Reads a folder: `*.jsonl` are pairs `{ a, b, y, kind, t }`, where `same: true` may replace `y: 1`, `*items.json`
 * answers with their phrasings `[id, t, [text, …]]`, other `*.json` intents `{ part: [[text, intent], …] }`. The split
 * is by the template `t` where there is one (even ones are `test`), else by position. Throws with the file's name for
 * another shape or an empty split, and for a folder without such files.
 */
export function readData(folder: string, split: Split): EvalData {
  const data = { pairs: new Map(), questions: new Map(), intents: new Map() }
  for (const name of readdirSync(folder).sort()) {
    const text = () => readFileSync(path.join(folder, name), 'utf8')
    const kept = (key: number) => split === 'all' || (key % 2 === 0) === (split === 'test')
    if (name.endsWith('.jsonl')) data.pairs.set(name, readPairs(name, text(), kept))
    else if (name.endsWith('items.json')) data.questions.set(name, readQuestions(name, text(), kept))
    else if (name.endsWith('.json')) data.intents.set(name, readIntents(name, text(), kept))
    else continue
    assertSome(data, name, split)
  }
  if (data.pairs.size + data.questions.size + data.intents.size === 0)
    throw new Error(`Expected ${folder} to hold labelled data, *.jsonl or *.json, got none.`)
  return data
}

function assertSome(data: EvalData, name: string, split: Split): void {
  const rows = data.pairs.get(name) ?? data.questions.get(name) ?? data.intents.get(name)
  if (rows?.length === 0) throw new Error(`${name} holds nothing of the split ${split}: use --split all, or another.`)
}

function readPairs(name: string, text: string, kept: (key: number) => boolean): EvalPair[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const pairs = parsed(
    name,
    z.array(pairSchema),
    lines.map((line) => JSON.parse(line)),
  )
  return pairs
    .filter(({ t }, i) => kept(t ?? i))
    .map(({ a, b, y, same, kind }) => ({ a, b, isSame: same ?? y === 1, kind }))
}

function readQuestions(name: string, text: string, kept: (key: number) => boolean): EvalRequest[] {
  const items = parsed(name, questionsSchema, JSON.parse(text))
  return items.filter(([, t]) => kept(t)).flatMap(([answer, , texts]) => texts.map((text) => ({ text, answer })))
}

function readIntents(name: string, text: string, kept: (key: number) => boolean): EvalRequest[] {
  const parts = parsed(name, intentsSchema, JSON.parse(text))
  const rows = Object.values(parts)
    .flat()
    .filter((_, i) => kept(i))
  // Texts outside of every intent share no answer.
  return rows.map(([text, intent], i) => ({ text, answer: intent === 'oos' ? `oos ${i}` : intent }))
}

function parsed<Schema extends z.ZodType>(name: string, schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new Error(`${name}: ${z.prettifyError(result.error)}`)
}
