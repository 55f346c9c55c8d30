/**
 * DESIGN: removing the layout of JSON in the text itself.
 *
 * Purpose: tools print JSON for people. Spaces between its tokens carry no meaning; parsing and printing would yield
 * another value (1.0, 2^53+1, integer-like keys), so the text is scanned and the spaces are skipped.
 *
 * Tools also print JSON inside strings, of JSON or of Python, where a quote and a line end are escaped:
 *
 *     depth    JSON in JSON        JSON in a Python string
 *     0        "    line end       "      \n
 *     1        \"   \n             \\"    \\n
 *     2        \\\" \\n            \\\\\\" \\\\n
 *
 * Guarantees: only blanks between tokens of well-formed JSON are removed; every token keeps its characters and their order.
 * Limits: a truncated value is processed as far as it goes, when it is at the end of the text.
 */

/** Escaping of quotes and line ends at one depth, as numbers of backslashes. */
interface Escaping {
  readonly quote: number
  readonly lineEnd: number
  /** Backslashes that encode one backslash in a string. */
  readonly unit: number
}

const PLAIN: Escaping = { quote: 0, lineEnd: 0, unit: 2 }
const ESCAPINGS: readonly Escaping[] = [
  PLAIN,
  { quote: 1, lineEnd: 1, unit: 4 },
  { quote: 3, lineEnd: 2, unit: 8 },
  { quote: 7, lineEnd: 4, unit: 16 },
  { quote: 0, lineEnd: 1, unit: 4 },
  { quote: 2, lineEnd: 2, unit: 8 },
  { quote: 6, lineEnd: 4, unit: 16 },
]

const TAB = 9
const LINE_FEED = 10
const RETURN = 13
const SPACE = 32
const QUOTE = 34
const BACKSLASH = 92
const BRACKETS: Readonly<Record<string, string>> = { '{': '}', '[': ']' }
const SCALAR = /(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/y
/** Matches a scalar truncated by the end of the text. */
const CUT_SCALAR = /[\w.+-]*$/y
const DEEPEST = 100

/** Scan of one value; `kept` are the ranges of text that remain. */
interface Walk {
  readonly text: string
  readonly escaping: Escaping
  readonly kept: string[]
  at: number
  keptFrom: number
}

/** Removes the layout of the JSON that a text begins with. */
export function minifyJson(text: string): string {
  const start = text.search(/\S/)
  if (start === -1 || !(text.charAt(start) in BRACKETS)) return minifyQuoted(text)
  const minified = minifyAt(text, start, PLAIN)
  if (minified === undefined) return minifyQuoted(text)
  const { kept, end } = minified
  if (text.slice(end).trim() === '') return kept
  return text
}

const LEAST_QUOTED = 160
/** Most failed scans: a text with many beginnings and no ends is not scanned for all of them. */
const MOST_FAILURES = 20
/** Matches a quoted value with a line layout: a quote, a bracket, an escaped line end. */
const QUOTED = /['"]([{[])(\\+)n/g

/** Removes the layout of JSON in a text's strings, as in the printed form of a Python object. */
function minifyQuoted(text: string): string {
  if (text.length < LEAST_QUOTED || !text.includes('\\n')) return text
  const parts: string[] = []
  let copied = 0
  let failures = 0
  QUOTED.lastIndex = 0
  for (let match = QUOTED.exec(text); match !== null && failures < MOST_FAILURES; match = QUOTED.exec(text)) {
    const start = match.index + 1
    const minified = escapingsAfter(text, start)
      .map((escaping) => minifyAt(text, start, escaping))
      .find((result) => result !== undefined)
    if (minified === undefined) {
      failures++
      continue
    }
    parts.push(text.slice(copied, start), minified.kept)
    copied = minified.end
    QUOTED.lastIndex = minified.end
  }
  return copied === 0 ? text : parts.join('') + text.slice(copied)
}

const OPENING = /[{[](?:(\\*)n)?[ \t\r\n]*(\\*)"/y

/** Returns the escapings that the beginning of a value allows, from its first line end and its first quote. */
function escapingsAfter(text: string, start: number): readonly Escaping[] {
  OPENING.lastIndex = start
  const match = OPENING.exec(text)
  if (match === null) return ESCAPINGS.filter(({ lineEnd }) => lineEnd > 0)
  const lineEnd = match[1]?.length
  const quote = match[2]?.length ?? 0
  return ESCAPINGS.filter((one) => one.quote === quote && (lineEnd === undefined || one.lineEnd === lineEnd))
}

/** Minifies the object or array that begins at `start`, and returns its end; `undefined` for other text. */
function minifyAt(text: string, start: number, escaping: Escaping): { kept: string; end: number } | undefined {
  const walk: Walk = { text, escaping, kept: [], at: start, keptFrom: start }
  if (!walkValue(walk, 0)) return undefined
  walk.kept.push(text.slice(walk.keptFrom, walk.at))
  return { kept: walk.kept.join(''), end: walk.at }
}

/** Scans one value. Returns false when it is not JSON; true also where the text ends inside it. */
function walkValue(walk: Walk, depth: number): boolean {
  const { text } = walk
  if (isAtEnd(walk)) return true
  const open = text.charAt(walk.at)
  const close = BRACKETS[open]
  if (close !== undefined) return depth < DEEPEST && walkContainer(walk, close, depth + 1)
  if (isQuote(walk)) return walkString(walk)
  SCALAR.lastIndex = walk.at
  if (SCALAR.test(text)) {
    walk.at = SCALAR.lastIndex
    return true
  }
  CUT_SCALAR.lastIndex = walk.at
  if (!CUT_SCALAR.test(text)) return false
  walk.at = text.length
  return true
}

function walkContainer(walk: Walk, close: string, depth: number): boolean {
  const { text } = walk
  walk.at++
  skipSpace(walk)
  if (text.charAt(walk.at) === close) {
    walk.at++
    return true
  }
  while (!isAtEnd(walk)) {
    if (close === '}' && !walkKey(walk)) return false
    if (!walkValue(walk, depth)) return false
    skipSpace(walk)
    if (isAtEnd(walk)) return true
    const mark = text.charAt(walk.at)
    walk.at++
    if (mark === close) return true
    if (mark !== ',') return false
    skipSpace(walk)
  }
  return true
}

function walkKey(walk: Walk): boolean {
  if (!isQuote(walk) || !walkString(walk)) return false
  skipSpace(walk)
  if (isAtEnd(walk)) return true
  if (walk.text.charAt(walk.at) !== ':') return false
  walk.at++
  skipSpace(walk)
  return true
}

function isAtEnd({ text, at }: Walk): boolean {
  return at >= text.length
}

/** Tests for the beginning of a string. */
function isQuote({ text, at, escaping }: Walk): boolean {
  for (let index = at; index < at + escaping.quote; index++) if (text.charCodeAt(index) !== BACKSLASH) return false
  return text.charCodeAt(at + escaping.quote) === QUOTE
}

/** Scans a string to behind its closing quote, and minifies JSON inside it. */
function walkString(walk: Walk): boolean {
  const { text, escaping } = walk
  walk.at += escaping.quote + 1
  if (text.charAt(walk.at) in BRACKETS) walkInner(walk)
  for (let quote = text.indexOf('"', walk.at); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let first = quote
    while (first > walk.at && text.charCodeAt(first - 1) === BACKSLASH) first--
    const backslashes = quote - first
    // The quote closes the enclosing string, not this one.
    if (backslashes < escaping.quote) return false
    if (backslashes % escaping.unit !== escaping.quote) continue
    // An unescaped line end cannot be in a string: a quote is missing, or this is not JSON.
    if (text.slice(walk.at, quote).includes('\n')) return false
    walk.at = quote + 1
    return true
  }
  walk.at = text.length
  return true
}

/** Minifies the value in a string that holds nothing else. */
function walkInner(walk: Walk): void {
  const { text, escaping } = walk
  const inner = innerEscaping(escaping)
  const minified = inner && minifyAt(text, walk.at, inner)
  if (minified === undefined || !isStringEnd(walk, minified.end)) return
  walk.kept.push(text.slice(walk.keptFrom, walk.at), minified.kept)
  walk.at = minified.end
  walk.keptFrom = minified.end
}

function isStringEnd({ text, escaping }: Walk, at: number): boolean {
  return at >= text.length || text.startsWith(`${'\\'.repeat(escaping.quote)}"`, at)
}

/** Returns the escaping one string deeper. */
function innerEscaping({ quote, lineEnd, unit }: Escaping): Escaping | undefined {
  const isPython = quote % 2 === 0 && lineEnd > 0
  return ESCAPINGS.find(
    (one) => one.unit === unit * 2 && (one.quote % 2 === 0 && one.lineEnd > 0) === isPython && one.lineEnd > 0,
  )
}

/** Skips the blanks that begin here. */
function skipSpace(walk: Walk): void {
  const { text, escaping } = walk
  const from = walk.at
  for (;;) {
    const code = text.charCodeAt(walk.at)
    if (code === SPACE || code === TAB || code === LINE_FEED || code === RETURN) walk.at++
    else if (code === BACKSLASH && escaping.lineEnd > 0 && isEscapedBlank(walk)) walk.at += escaping.lineEnd + 1
    else break
  }
  if (walk.at === from) return
  walk.kept.push(text.slice(walk.keptFrom, from))
  walk.keptFrom = walk.at
}

function isEscapedBlank({ text, at, escaping }: Walk): boolean {
  const mark = at + escaping.lineEnd
  for (let index = at; index < mark; index++) if (text.charCodeAt(index) !== BACKSLASH) return false
  return 'nrt'.includes(text.charAt(mark) || ' ')
}
