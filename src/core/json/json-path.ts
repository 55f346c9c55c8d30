import { BACKSLASH, QUOTE, skipString } from './scan-string.ts'
import { CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, skipSpace } from './scan-value.ts'

const COMMA = 44
const COLON = 58
const PLAIN_NAME = /^[A-Za-z_]\w{0,63}$/
const LONGEST_NAME = 64
const LONGEST_PATH = 200

/**
 * Returns the path of the member or element at byte `position` of a document (as latin1), as `messages[3].content`; at most 200
 * characters. The document must be valid JSON up to that byte. One pass, whatever the nesting.
 */
export function pathAt(text: string, position: number): string {
  const steps: (string | number)[] = []
  let at = skipSpace(text, 0)
  while (at < position) at = stepOver(text, at, steps)
  if (isKey(text, at)) steps[steps.length - 1] = nameAt(text, at)
  return printSteps(steps)
}

/** Returns the byte offset after the token at `at`, and updates `steps`. */
function stepOver(text: string, at: number, steps: (string | number)[]): number {
  switch (text.charCodeAt(at)) {
    case OPEN_BRACE:
      steps.push('')
      break
    case OPEN_BRACKET:
      steps.push(0)
      break
    case CLOSE_BRACE:
    case CLOSE_BRACKET:
      steps.pop()
      break
    case COMMA: {
      const last = steps.length - 1
      const step = steps[last]
      if (typeof step === 'number') steps[last] = step + 1
      break
    }
    case QUOTE:
      if (isKey(text, at)) steps[steps.length - 1] = nameAt(text, at)
      return skipString(text, at)
  }
  return at + 1
}

function isKey(text: string, at: number): boolean {
  return text.charCodeAt(at) === QUOTE && text.charCodeAt(skipSpace(text, skipString(text, at))) === COLON
}

function nameAt(text: string, at: number): string {
  return decodeString(text, at, skipString(text, at)) ?? ''
}

function printSteps(steps: readonly (string | number)[]): string {
  let path = ''
  for (const step of steps) {
    if (typeof step === 'number') path += `[${step}]`
    else path += PLAIN_NAME.test(step) ? `.${step}` : `[${JSON.stringify(step.slice(0, LONGEST_NAME))}]`
    if (path.length > LONGEST_PATH) return `${path.slice(0, LONGEST_PATH).replace(/^\./, '')}…`
  }
  return path.replace(/^\./, '')
}

const FIRST_UNESCAPED = 32
const LAST_ASCII = 127

/** Decodes the string whose quotes are at `start` and before `end`; `undefined` when an escape in it is wrong. */
export function decodeString(text: string, start: number, end: number): string | undefined {
  if (isLiteral(text, start + 1, end - 1)) return text.slice(start + 1, end - 1)
  try {
    return JSON.parse(Buffer.from(text.slice(start, end), 'latin1').toString())
  } catch {
    return undefined
  }
}

/** Returns whether the bytes from `start` to `end` are printable ASCII without escapes. */
function isLiteral(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    if (code < FIRST_UNESCAPED || code === BACKSLASH || code > LAST_ASCII) return false
  }
  return true
}
