/**
 * DESIGN: the shape of a Messages request, for checking and for types.
 *
 * Source: the service specification, section 2.1, with open lists: what it names is checked; fields, block types and tool
 * fields that it does not name pass through untouched, and null stands for an absent optional field.
 * The scan in `scan-message.ts` recognises the same shape in the bytes and must never accept more than the schema here.
 */
import { z } from 'zod'
import { listOf, MOST_FAULTS } from './list-schema.ts'

/** Members that every known block may have. */
interface Cacheable {
  /** A mark for prompt caching; what is inside is the provider's business. */
  cache_control?: Record<string, unknown> | null | undefined
}

interface TextBlock extends Cacheable {
  type: 'text'
  text: string
}

interface ImageBlock extends Cacheable {
  type: 'image'
  source: { type: string; [field: string]: unknown }
}

interface ToolUseBlock extends Cacheable {
  type: 'tool_use'
  id: string
  name: string
  input: Record<string, unknown>
}

interface ToolResultBlock extends Cacheable {
  type: 'tool_result'
  tool_use_id: string
  content?: string | ContentBlock[] | null | undefined
  is_error?: boolean | null | undefined
}

/**
 * A block that passes unread. Its type may be any string but the four above. TypeScript narrows `block.type === 'text'`
 * only if every type is a literal, hence the list, and `'(any other)'` for those that are not in it.
 */
interface OtherBlock {
  type:
    | 'thinking'
    | 'redacted_thinking'
    | 'document'
    | 'search_result'
    | 'server_tool_use'
    | 'web_search_tool_result'
    | 'web_fetch_tool_result'
    | 'code_execution_tool_result'
    | 'bash_code_execution_tool_result'
    | 'text_editor_code_execution_tool_result'
    | 'tool_search_tool_result'
    | 'mcp_tool_use'
    | 'mcp_tool_result'
    | 'container_upload'
    | 'compaction'
    | '(any other)'
  [field: string]: unknown
}

/** A part of a message's content, of `system`, or of a tool's result. Tell the kinds apart by `type`. */
export type ContentBlock = TextBlock | ImageBlock | ToolUseBlock | ToolResultBlock | OtherBlock

/** One turn of the conversation. Newer models take turns of the system in between. */
export interface Message {
  role: 'user' | 'assistant' | 'system'
  content: string | ContentBlock[]
}

/**
 * A tool that the model may use. The provider's own tools may have a `type` and no `input_schema`, or no name at all; the
 * specification does not show a tool's inside, so only what names and describes it is checked.
 */
export interface Tool {
  type?: string | null | undefined
  name?: string | null | undefined
  description?: string | null | undefined
  [field: string]: unknown
}

const anyObject = z.looseObject({})
const cacheable = { cache_control: anyObject.nullish() }
const blocks = listOf(() => contentBlockSchema)
/** Blocks in blocks: one fault is enough, or faults would multiply with each level. */
const innerBlocks = listOf(() => contentBlockSchema, 1)

const knownBlocks = [
  z.looseObject({ type: z.literal('text'), text: z.string(), ...cacheable }),
  z.looseObject({ type: z.literal('image'), source: z.looseObject({ type: z.string() }), ...cacheable }),
  z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: anyObject, ...cacheable }),
  z.looseObject({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.union([z.string(), innerBlocks]).nullish(),
    is_error: z.boolean().nullish(),
    ...cacheable,
  }),
] as const
const knownTypes = new Set<string>(knownBlocks.map((schema) => schema.shape.type.value))

const otherBlock = z.looseObject({
  // Without `abort`, zod would report this branch of the union alone.
  type: z.string().refine((type) => !knownTypes.has(type), { abort: true }),
})

// The cast is safe: OtherBlock's list of literals stands for every string that the refinement lets through.
const contentBlockSchema: z.ZodType<ContentBlock> = z.union([
  z.discriminatedUnion('type', knownBlocks),
  otherBlock as unknown as z.ZodType<OtherBlock>,
])

export const messageSchema: z.ZodType<Message> = z.looseObject({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), blocks]),
})

const toolSchema: z.ZodType<Tool> = z.looseObject({
  type: z.string().nullish(),
  name: z.string().nullish(),
  description: z.string().nullish(),
})

/** A model's name has a character that is not white space. */
export const modelName = z.string().regex(/\S/, 'expected the name of a model')

const scalarFields = {
  model: modelName,
  max_tokens: z.int().positive(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().positive().nullish(),
  stop_sequences: listOf(() => z.string()).nullish(),
  stream: z.boolean().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
}

/**
 * The fields of a request that are left to check when the scan says that it is `plain`: all but `messages`, `system` and
 * `tools`. Takes an object that has just these, or more.
 */
export const scalarFieldsSchema = z.looseObject(scalarFields)

/** A whole Messages request. Unknown fields pass. */
export const messageRequestSchema = z.looseObject({
  ...scalarFields,
  messages: listOf(() => messageSchema),
  system: z.union([z.string(), blocks]).nullish(),
  tools: listOf(() => toolSchema).nullish(),
})

/** What a token count leaves unread. */
const unread = { max_tokens: z.unknown().optional() }

/** The same two for a token count, which needs no `max_tokens`. */
export const countedScalarFieldsSchema = scalarFieldsSchema.extend(unread)
export const countedRequestSchema = messageRequestSchema.extend(unread)

/** A Messages request that fits the schema. Fields that the specification does not name are there too, unread. */
export type MessageRequest = z.infer<typeof messageRequestSchema>

/**
 * One line for a person: `messages[0].content[1].text: expected string, got number; max_tokens: …`. At most three faults,
 * then that there are more. Says nothing of the values but their kinds.
 */
export function explain(error: z.ZodError): string {
  const faults = error.issues.flatMap((issue) => toFaults(issue, []))
  const shown = faults.slice(0, MOST_FAULTS).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  return shown.join('; ') + (faults.length > shown.length ? '; and more' : '')
}

interface Fault {
  path: string
  message: string
}

function toFaults(issue: z.core.$ZodIssue, parents: readonly PropertyKey[]): Fault[] {
  const path = [...parents, ...issue.path]
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return faultsOfUnion(issue.errors, path)
  return [{ path: printPath(path), message: inPlainWords(issue.message) }]
}

/** Of the alternatives that all failed: those kinds that would have fitted, or else the faults of the one that was meant. */
function faultsOfUnion(branches: readonly z.core.$ZodIssue[][], path: readonly PropertyKey[]): Fault[] {
  const messages = branches.map((issues) => wrongKind(issues))
  if (messages.every((message) => message !== undefined)) return [{ path: printPath(path), message: either(messages) }]
  const meant = branches.find((issues) => !issues.some(rulesBranchOut)) ?? branches.at(-1) ?? []
  return meant.flatMap((issue) => toFaults(issue, path))
}

/** The message of a branch that the value is of the wrong kind for. */
function wrongKind([issue]: readonly z.core.$ZodIssue[]): string | undefined {
  return issue?.code === 'invalid_type' && issue.path.length === 0 ? inPlainWords(issue.message) : undefined
}

/** `expected string, got number` and `expected array, got number` make `expected string or array, got number`. */
function either(messages: readonly string[]): string {
  const kinds = messages.map((message) => message.replace(/^expected |, got .*$/g, ''))
  return (messages[0] ?? '').replace(/(?<=^expected ).*(?=, got )/, [...new Set(kinds)].join(' or '))
}

/** Whether the issue shows that its branch of a union was not the one meant: another kind of value, another `type`. */
function rulesBranchOut({ path }: z.core.$ZodIssue): boolean {
  return path.length === 0 || (path.length === 1 && path[0] === 'type')
}

const PLAIN_KEY = /^[A-Za-z_]\w*$/

function printPath(path: readonly PropertyKey[]): string {
  const printed = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`
    return PLAIN_KEY.test(String(key)) ? `.${String(key)}` : `[${JSON.stringify(String(key))}]`
  })
  return printed.join('').replace(/^\./, '')
}

export function inPlainWords(message: string): string {
  return message
    .replace(/^(Invalid input|Invalid option|Too small|Too big): /, '')
    .replace(/^expected int, .*/, 'expected a whole number')
    .replace(/^expected record/, 'expected object')
    .replace(/, received undefined$/, ', got nothing')
    .replace(/, received NaN$/, '')
    .replace(/, received /, ', got ')
}
