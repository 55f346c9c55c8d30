/**
 * DESIGN: the shape of a Messages request, for checking and for types.
 *
 * Source: the service specification, section 2.1, with open lists: named fields are checked; other fields, block types and
 * tool fields pass unchanged, and null means an absent optional field.
 * The scan in `scan-message.ts` recognises the same shape in the bytes and must never accept more than the schema here.
 */
import { z } from 'zod'
import { isObject } from '../json/json-value.ts'
import { listOf, MOST_FAULTS } from './list-schema.ts'

/** Members that every known block may have. */
interface Cacheable {
  /** A mark for prompt caching; its content is the provider's. */
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
 * only if every type is a literal, hence the list, and `'(any other)'` for all others.
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

/** A part of a message's content, of `system`, or of a tool's result; `type` is its kind. */
export type ContentBlock = TextBlock | ImageBlock | ToolUseBlock | ToolResultBlock | OtherBlock

/** One turn of the conversation. Newer models take system turns in between. */
export interface Message {
  role: 'user' | 'assistant' | 'system'
  content: string | ContentBlock[]
}

/**
 * A tool that the model may use. The provider's own tools may have a `type` and no `input_schema`, or no name at all; the
 * specification does not define a tool's content, so only its name and description are checked.
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
/** Nested blocks: one fault is enough, or faults would multiply with each level. */
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

// The cast is safe: OtherBlock's list of literals covers every string that the refinement accepts.
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
 * The fields of a request that remain to be checked when the scan reports `plain`: all but `messages`, `system` and
 * `tools`. Takes an object that has just these, or more.
 */
export const scalarFieldsSchema = z.looseObject(scalarFields)

/**
 * Returns true for an object that certainly fits `scalarFieldsSchema`: its fields are the usual ones, with values that need
 * no message. Takes a twentieth of the schema's time.
 */
export function hasUsualScalars(value: unknown): boolean {
  if (!isObject(value)) return false
  const { model, max_tokens: maxTokens, stream, temperature, metadata } = value
  if (typeof model !== 'string' || !/\S/.test(model)) return false
  if (typeof maxTokens !== 'number' || !Number.isSafeInteger(maxTokens) || maxTokens <= 0) return false
  if (stream !== undefined && typeof stream !== 'boolean') return false
  if (temperature !== undefined && !(typeof temperature === 'number' && temperature >= 0 && temperature <= 2))
    return false
  if (metadata !== undefined && !isObject(metadata)) return false
  return UNUSUAL.every((name) => value[name] === undefined)
}

const UNUSUAL = ['top_p', 'top_k', 'stop_sequences'] as const

/** A whole Messages request. Unknown fields pass. */
export const messageRequestSchema = z.looseObject({
  ...scalarFields,
  messages: listOf(() => messageSchema),
  system: z.union([z.string(), blocks]).nullish(),
  tools: listOf(() => toolSchema).nullish(),
})

/** Fields that a token count does not read. */
const unread = { max_tokens: z.unknown().optional() }

/** The same schema for a token count, which needs no `max_tokens`. */
export const countedScalarFieldsSchema = scalarFieldsSchema.extend(unread)
export const countedRequestSchema = messageRequestSchema.extend(unread)

/** A Messages request that fits the schema. Fields that the specification does not name are included, unread. */
export type MessageRequest = z.infer<typeof messageRequestSchema>

/**
 * Explains faults in one line: `messages[0].content[1].text: expected string, got number; max_tokens: …`. At most three,
 * then that there are more. Shows no values, only their kinds.
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

/** Selects faults of alternatives that all failed: the kinds that would have fitted, or else the faults of the one meant. */
function faultsOfUnion(branches: readonly z.core.$ZodIssue[][], path: readonly PropertyKey[]): Fault[] {
  const messages = branches.map((issues) => wrongKind(issues))
  if (messages.every((message) => message !== undefined)) return [{ path: printPath(path), message: either(messages) }]
  const meant = branches.find((issues) => !issues.some(rulesBranchOut)) ?? branches.at(-1) ?? []
  return meant.flatMap((issue) => toFaults(issue, path))
}

/** Returns the message of a branch that requires another kind of value. */
function wrongKind([issue]: readonly z.core.$ZodIssue[]): string | undefined {
  return issue?.code === 'invalid_type' && issue.path.length === 0 ? inPlainWords(issue.message) : undefined
}

/** Joins `expected string, got number` and `expected array, got number` to `expected string or array, got number`. */
function either(messages: readonly string[]): string {
  const kinds = messages.map((message) => message.replace(/^expected |, got .*$/g, ''))
  return (messages[0] ?? '').replace(/(?<=^expected ).*(?=, got )/, [...new Set(kinds)].join(' or '))
}

/** Returns whether the issue rules out its branch of a union: another kind of value, another `type`. */
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
