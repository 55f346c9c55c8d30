/**
 * DESIGN: a tool without its prose. A call's essentials remain: name, parameters, types, enumerations, required
 * members. The first sentence of the description remains; descriptions, examples and titles of parameters are removed.
 *
 * The tool is edited, not printed again: the remainder is the client's bytes.
 */
import { type Edit, RequestDocument } from 'turnpike/plugin'

const LONGEST_SENTENCE = 160
/** Most characters of a description that are read. */
const LONGEST_READ = 2000
/** Most edits of a tool: their time grows quadratically, so a tool with more prose is unchanged. */
const MOST_EDITS = 1000
/** Annotations of JSON Schema, which do not constrain a value. */
const PROSE = new Set(['description', 'title', 'default', 'examples', 'example', '$comment', 'markdownDescription'])
/** Members whose values are schemas, by their shape. */
const SCHEMA = new Set(['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'])
const SCHEMAS_BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
const SCHEMA_LIST = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'])

type Path = readonly (string | number)[]
type Json = Readonly<Record<string, unknown>>

/**
 * Returns the bytes of `tool`, of which `raw` are the original, without its prose. Never longer; `raw` itself when
 * there is nothing to remove. `lead` is the beginning of its description that carries no information, since others
 * share it.
 */
export function slimTool(raw: Buffer, tool: Json, lead = ''): Buffer {
  const edits = [...shorterDescription(tool, lead), ...withoutProse(tool.input_schema, ['input_schema'])]
  if (edits.length === 0 || edits.length > MOST_EDITS) return raw
  const { bytes } = new RequestDocument(raw).edited(edits)
  return bytes.length < raw.length ? bytes : raw
}

function shorterDescription({ description }: Json, lead: string): Edit[] {
  if (typeof description !== 'string') return []
  const sentence = firstSentence(description.slice(lead.length)) || firstSentence(description)
  return sentence === description ? [] : [{ op: 'replace', path: ['description'], value: sentence }]
}

const SENTENCE = /^.*?(?:[.!?](?=\s|$)|[。！？])/s
const ABBREVIATED = /(?:\b(?:e\.g|i\.e|etc|vs|no|incl|approx)|\b[A-Z])\.$/i

/** Returns the first sentence or line, of at most 160 characters; a cut one ends with `…`. */
export function firstSentence(text: string): string {
  const line =
    text
      .slice(0, LONGEST_READ)
      .trimStart()
      .split(/\n\s*\n|\n(?=\s*[-*#])/)[0]
      ?.trimEnd() ?? ''
  const sentence = sentenceOf(line)
  if (sentence.length <= LONGEST_SENTENCE) return sentence.length < text.length ? sentence : text
  const cut = sentence.slice(0, LONGEST_SENTENCE - 1)
  const space = cut.lastIndexOf(' ')
  return `${cut
    .slice(0, space > LONGEST_SENTENCE / 2 ? space : undefined)
    .toWellFormed()
    .trimEnd()}…`
}

function sentenceOf(line: string): string {
  let end = 0
  for (;;) {
    const found = SENTENCE.exec(line.slice(end))
    if (found === null) return line
    end += found[0].length
    if (!ABBREVIATED.test(line.slice(0, end))) return line.slice(0, end)
  }
}

function withoutProse(schema: unknown, path: Path): Edit[] {
  if (!isObject(schema)) return []
  return Object.entries(schema).flatMap(([name, value]): Edit[] => {
    const at = [...path, name]
    if (PROSE.has(name)) return [{ op: 'remove', path: at }]
    if (SCHEMAS_BY_NAME.has(name) && isObject(value)) {
      return Object.entries(value).flatMap(([key, inner]) => withoutProse(inner, [...at, key]))
    }
    if (SCHEMA_LIST.has(name) && Array.isArray(value))
      return value.flatMap((inner, i) => withoutProse(inner, [...at, i]))
    return SCHEMA.has(name) ? withoutProse(value, at) : []
  })
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
