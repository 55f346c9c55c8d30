/**
 * DESIGN: finds the models that a body names besides `model`.
 *
 * Purpose: providers take further models in a body (Claude API, "Server-side fallback": `fallbacks`, and "Advisor tool":
 * `model`; OpenRouter, "Model routing": `models`, `plugins`). Each of them may answer, or be called on the way, so each is
 * checked against the models that a key may use, and priced.
 * Guarantees: found by rule, in fields of any name: every text in a member whose decoded name ends in `model`, `models`
 * or `fallbacks`, in any case. Fields that cannot be searched are refused.
 * Limits: schemas and the client's own data (messages, metadata, a tool's parameters), where such a member names nothing;
 * each only at its place in its dialect, since a provider may take a member of the same name elsewhere.
 */
import { GatewayError } from '../errors.ts'
import { readJson } from '../json/json-error.ts'
import { parseJson } from '../json/parse-json.ts'
import { utf8Of } from '../json/raw-json.ts'
import { type Child, children } from '../json/scan.ts'
import { QUOTE } from '../json/scan-string.ts'
import { OPEN_BRACE, OPEN_BRACKET } from '../json/scan-value.ts'
import type { Target } from './exchange.ts'
import type { RequestDocument } from './request.ts'

const NAMED = Symbol('named models')
/** Fields with data. */
const DATA = new Set([
  ...['messages', 'system', 'metadata', 'functions', 'guided_json', 'structured_outputs', 'prediction'],
  ...['stop', 'stop_sequences', 'logit_bias'],
])
/** Fields with data in Responses. */
const RESPONSES_DATA = new Set(['input', 'client_metadata'])
const TOOLS = 'tools'
/** Members of tools with data. */
const TOOL_DATA = new Set(['function', 'custom', 'input_examples', 'description'])
/** The schema of a function in Responses, whose members are beside its type. */
const PARAMETERS = 'parameters'
/** `schema`, `input_schema`, `outputSchema` */
const SCHEMA = /schema$/i
/** The requested model, where it is a top-level field. */
const ASKED = 'model'
const NAMES_MODELS = /(?:^|_)(?:models?|fallbacks)$/i
/** Limit of nesting: each level is scanned once more. */
const DEEPEST = 16
const MOST_NAMES = 64

/**
 * Returns the names of the models that a body names besides its `model`, each once; from one scan for each body. For a
 * target that gets a translation of it, without those that the translation leaves out. Throws `invalid_request` for more
 * than 64, or for fields nested deeper than 16 levels.
 */
export function namedModels(document: RequestDocument, target?: Target): readonly string[] {
  const named = document.memo(NAMED, (body) => readJson(body.bytes, () => findNames(body)))
  return target?.translatesResponses === true ? named.withoutTools : named.all
}

/** Returns the targets, and for each of their providers the further models that the body names. */
export function targetsWithNamed(targets: readonly Target[], document: RequestDocument): readonly Target[] {
  if (namedModels(document).length === 0) return targets
  const providers = new Map(targets.map((target) => [target.provider, target]))
  const named = [...providers.values()].flatMap((target) =>
    namedModels(document, target).map((model) => ({ ...target, model })),
  )
  return [...targets, ...named]
}

/** The names of a body, and in a Responses request those that are not in its tools alone. */
interface Named {
  readonly all: readonly string[]
  readonly withoutTools: readonly string[]
}

function findNames(document: RequestDocument): Named {
  const names = new Set<string>()
  const ofTools = new Set<string>()
  const { fields } = document.shape
  // The other dialects require `messages`.
  const isResponses = fields.has('input') && !fields.has('messages')
  for (const key of fields.keys()) {
    if (key === ASKED || DATA.has(key) || SCHEMA.test(key) || (isResponses && RESPONSES_DATA.has(key))) continue
    const raw = document.raw(key)
    if (raw === undefined || !mayName(key, raw[0])) continue
    const isTools = key === TOOLS
    const into = { text: raw.toString('latin1'), names: isTools && isResponses ? ofTools : names, isTools, isResponses }
    collect(into, { key, start: 0, end: raw.length }, 0)
  }
  const all = new Set([...names, ...ofTools])
  if (all.size > MOST_NAMES) throw tooMany()
  for (const found of [names, all]) found.delete(document.model)
  return { all: [...all], withoutTools: [...names] }
}

/** Returns whether a value can name a model, by its first byte: lists and objects may, a text by its key. */
function mayName(key: string, first: number | undefined): boolean {
  return first === OPEN_BRACKET || first === OPEN_BRACE || (first === QUOTE && NAMES_MODELS.test(key))
}

interface Collecting {
  /** A field's bytes read as latin1. */
  readonly text: string
  readonly names: Set<string>
  /** True in the field `tools`. */
  readonly isTools: boolean
  readonly isResponses: boolean
}

/** Collects the names in a member's value; the elements of a list have the list's key. */
function collect(into: Collecting, { key = '', start, end }: Child, depth: number): void {
  const { text, names } = into
  const first = text[start]
  if (first === '"' && NAMES_MODELS.test(key)) names.add(String(parseJson(utf8Of(text.slice(start, end)))))
  if (names.size > MOST_NAMES) throw tooMany()
  if (first !== '[' && first !== '{') return
  if (depth === DEEPEST) throw refusal(`has a field that is nested deeper than ${DEEPEST} levels`)
  const inside = children(text, start)
  if (first === '[') for (const child of inside) collect(into, { ...child, key }, depth + 1)
  else {
    const isFunction = into.isTools && into.isResponses && inside.some((child) => isFunctionType(text, child))
    for (const child of inside)
      if (!isData(child.key ?? '', { isTools: into.isTools, isFunction })) collect(into, child, depth + 1)
  }
}

function isData(key: string, { isTools, isFunction }: { isTools: boolean; isFunction: boolean }): boolean {
  return SCHEMA.test(key) || (isTools && TOOL_DATA.has(key)) || (isFunction && key === PARAMETERS)
}

function isFunctionType(text: string, { key, start, end }: Child): boolean {
  return key === 'type' && text.slice(start, end) === '"function"'
}

function tooMany(): GatewayError {
  return refusal(`names more than ${MOST_NAMES} models`)
}

function refusal(what: string): GatewayError {
  return new GatewayError('invalid_request', `The body ${what}: which models it may reach cannot be checked.`)
}
