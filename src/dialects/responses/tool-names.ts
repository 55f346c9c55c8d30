/**
 * DESIGN: the names of a request's tools in the Messages shape.
 *
 * A namespace groups tools, and a custom tool takes free text; the Messages shape has neither. A tool of a namespace gets
 * the name `namespace__tool`, a custom tool one parameter, `input`. The reply's calls are translated back by this table,
 * which follows from the request alone: no state is kept between the two.
 * Limits: names of at most 64 characters, as chat completions require; a longer one ends in a digest.
 */
import { hash } from 'node:crypto'
import { readJson } from '../../core/json/json-error.ts'
import { isObject, type JsonObject } from '../../core/json/json-value.ts'
import type { RequestDocument } from '../../core/request/request.ts'

/** The identity of a tool in the client's request. */
export interface NamedTool {
  readonly kind: 'function' | 'custom'
  readonly name: string
  readonly namespace: string | undefined
}

/** Tools by their names in the Messages shape; plain functions are left out. */
export type ToolNames = ReadonlyMap<string, NamedTool>

const LONGEST_NAME = 64
const DIGEST_CHARACTERS = 8
const SEPARATOR = '__'
const TOOL_NAMES = Symbol('names of responses tools')
const ADDITIONAL = Buffer.from('additional_tools')

/** Returns a tool's name in the Messages shape. */
export function flatNameOf(name: string, namespace: unknown): string {
  if (typeof namespace !== 'string' || namespace === '') return name
  const flat = namespace.endsWith(SEPARATOR) ? namespace + name : namespace + SEPARATOR + name
  if (flat.length <= LONGEST_NAME) return flat
  const digest = hash('sha256', flat, 'hex').slice(0, DIGEST_CHARACTERS)
  return `${flat.slice(0, LONGEST_NAME - DIGEST_CHARACTERS - 1)}_${digest}`
}

/** Returns the names of a request's tools, computed once for the same bytes. */
export function toolNamesOf(document: RequestDocument): ToolNames {
  return document.memo(TOOL_NAMES, () => readJson(document.bytes, () => collect(document)))
}

function collect(document: RequestDocument): ToolNames {
  const names = new Map<string, NamedTool>()
  addTools(names, document.field('tools'), undefined)
  if (!document.bytes.includes(ADDITIONAL)) return names
  const items = document.field('input')
  for (const item of Array.isArray(items) ? items : [])
    if (isObject(item) && item.type === 'additional_tools') addTools(names, item.tools, undefined)
  return names
}

function addTools(names: Map<string, NamedTool>, tools: unknown, namespace: string | undefined): void {
  for (const tool of Array.isArray(tools) ? tools : []) if (isObject(tool)) addTool(names, tool, namespace)
}

function addTool(names: Map<string, NamedTool>, tool: JsonObject, namespace: string | undefined): void {
  const { type, name } = tool
  if (typeof name !== 'string') return
  if (type === 'namespace' && namespace === undefined) addTools(names, tool.tools, name)
  else if (type === 'custom') names.set(flatNameOf(name, namespace), { kind: 'custom', name, namespace })
  else if (namespace !== undefined) names.set(flatNameOf(name, namespace), { kind: 'function', name, namespace })
}
