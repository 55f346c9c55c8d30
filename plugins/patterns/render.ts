import type { PatternFile } from './pattern-file.ts'
import { TAG, tagged } from './tag.ts'
import { boundTokens } from './tokens.ts'

/** Sources of variables. */
export interface VariableSources {
  readonly headers: NodeJS.Dict<string | string[]>
  readonly config: Readonly<Record<string, string>>
}

/** Pattern's text as injected, and an upper bound on its tokens. */
export interface Rendered {
  readonly text: string
  readonly tokens: number
}

const PLACE = /\{\{\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*\}\}/g
const LONGEST_VALUE = 200
const ESCAPES: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '{': '&#123;', '}': '&#125;' }

/**
 * Renders the text with its variables. The same values give the same bytes. Returns `undefined` when a variable has
 * neither value nor default, or when the text exceeds the pattern's own `max_tokens`.
 */
export function render(pattern: PatternFile, sources: VariableSources): Rendered | undefined {
  const values = new Map<string, string>()
  for (const [name, { from, default: fallback }] of Object.entries(pattern.vars)) {
    const value = valueFrom(from, sources) ?? fallback
    if (value === undefined) return undefined
    values.set(name, from === undefined ? value : escaped(value))
  }
  // An unknown name is text: bodies may show templates.
  const body = pattern.body.replace(PLACE, (place, name) => values.get(name) ?? place)
  const text = tagged(pattern.name, body)
  const tokens = boundTokens(text)
  return tokens > (pattern.max_tokens ?? Number.POSITIVE_INFINITY) ? undefined : { text, tokens }
}

function valueFrom(from: string | undefined, { headers, config }: VariableSources): string | undefined {
  if (from === undefined) return undefined
  const [kind, name = ''] = from.split(':')
  const value = kind === 'header' ? headers[name.toLowerCase()] : config[name]
  return value === undefined || value.length === 0 ? undefined : String(value)
}

/** Escapes a caller's value: one line, short, and without text that could end the tag or begin another placeholder. */
function escaped(value: string): string {
  const line = value.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
  return [...line]
    .slice(0, LONGEST_VALUE)
    .map((character) => ESCAPES[character] ?? character)
    .join('')
}

/**
 * Throws when a variable has no placeholder in the text, the text holds the tag itself, or it exceeds its own limit.
 */
export function assertRenders(pattern: PatternFile): void {
  const places = new Set([...pattern.body.matchAll(PLACE)].map(([, name]) => name))
  const unused = Object.keys(pattern.vars).find((name) => !places.has(name))
  if (unused !== undefined)
    throw new Error(`the variable \`${unused}\` has no place in the text: expected \`{{${unused}}}\``)
  if (pattern.body.toLowerCase().includes(TAG)) throw new Error(`the text must not contain \`${TAG}\``)
  const tokens = boundTokens(tagged(pattern.name, pattern.body))
  if (pattern.max_tokens !== undefined && tokens > pattern.max_tokens)
    throw new Error(
      `its text has up to ${tokens} tokens, expected at most its own \`max_tokens\` of ${pattern.max_tokens}`,
    )
}
