import { GatewayError } from '../core/errors.ts'

/** One step of a pipeline string: a plugin and its options there. */
export interface Step {
  readonly name: string
  readonly options: Readonly<Record<string, string>>
  /** Character offset of the step in the string it was parsed from, for messages. */
  readonly position: number
}

/** Longest pipeline string, in characters (specification, section 8). */
export const LONGEST_PIPELINE = 8000

const STEP_NAME = /^[a-z][a-z0-9-]{0,63}$/
/** A name with another separator than `?` before its options: `redact:mode=block`. */
const NAME_AND_MORE = /^[a-z][a-z0-9-]{0,63}[^a-z0-9-]/
const MOST_STEPS = 32
/** Denotes the empty pipeline, and only alone. */
const NO_STEPS = 'none'

/**
 * Parses `step ("," step)*` with `step = name ["?" query]` into steps; `''` and `none` are the empty pipeline.
 * Values are percent-decoded. Throws `invalid_request` that names the step and its position.
 */
export function parsePipeline(text: string): Step[] {
  if (text.length > LONGEST_PIPELINE) {
    throw new GatewayError(
      'invalid_request',
      `Expected a pipeline of at most ${LONGEST_PIPELINE} characters, got ${text.length}.`,
    )
  }
  // The pipeline of a key comes as JSON, which can contain a lone surrogate, and that cannot be printed again.
  if (!text.isWellFormed())
    throw new GatewayError(
      'invalid_request',
      'Expected a pipeline of whole characters, got one with half a surrogate pair.',
    )
  if (text.trim() === '' || text.trim() === NO_STEPS) return []
  const steps: Step[] = []
  let offset = 0
  for (const part of text.split(',')) {
    const position = offset + (part.length - part.trimStart().length)
    steps.push(parseStep(part.trim(), position))
    offset += part.length + 1
  }
  if (steps.length > MOST_STEPS)
    throw new GatewayError('invalid_request', `Expected at most ${MOST_STEPS} plugins, got ${steps.length}.`)
  assertDistinct(steps)
  return steps
}

/** Prints steps; the inverse of `parsePipeline`: one canonical string for the same steps; `none` for no steps. */
export function printPipeline(steps: readonly Pick<Step, 'name' | 'options'>[]): string {
  return steps.length === 0 ? NO_STEPS : steps.map(printStep).join(',')
}

/** Prints a step in the notation of a pipeline string: no `+` for a space, no bare comma. */
function printStep({ name, options }: Pick<Step, 'name' | 'options'>): string {
  const query = Object.entries(options).map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)
  return query.length === 0 ? name : `${name}?${query.join('&')}`
}

function parseStep(text: string, position: number): Step {
  const mark = text.indexOf('?')
  const name = (mark === -1 ? text : text.slice(0, mark)).trim()
  if (!STEP_NAME.test(name) || name === NO_STEPS) {
    throw new GatewayError(
      'invalid_request',
      `Expected a plugin name at position ${position} of the pipeline, got \`${name}\`.${formOf(name)}`,
    )
  }
  return { name, options: mark === -1 ? {} : parseOptions(text.slice(mark + 1), name, position), position }
}

/** Returns the notation of options, where text behind a plugin's name was probably meant as such; else an empty text. */
function formOf(text: string): string {
  return NAME_AND_MORE.test(text) ? ' Options are written as `name?option=value&option=value`.' : ''
}

function parseOptions(query: string, name: string, position: number): Record<string, string> {
  const options: Record<string, string> = Object.create(null)
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const key = decode(equals === -1 ? pair : pair.slice(0, equals), name, position)
    if (key === '' || key in options) {
      throw new GatewayError(
        'invalid_request',
        `Option \`${key}\` of \`${name}\` at position ${position} is ${key === '' ? 'empty' : 'given twice'}.`,
      )
    }
    options[key] = equals === -1 ? 'true' : decode(pair.slice(equals + 1), name, position)
  }
  return { ...options }
}

function decode(text: string, name: string, position: number): string {
  try {
    // A plus stays a plus: `use=a+b` lists values, and no option contains a space.
    return decodeURIComponent(text)
  } catch (cause) {
    throw new GatewayError(
      'invalid_request',
      `Expected percent-encoded text in the options of \`${name}\` at position ${position}, got \`${text}\`.`,
      { cause },
    )
  }
}

function assertDistinct(steps: readonly Step[]): void {
  const seen = new Set<string>()
  for (const { name, position } of steps) {
    if (seen.has(name)) {
      throw new GatewayError(
        'invalid_request',
        `Plugin \`${name}\` is repeated in the pipeline at position ${position}.`,
      )
    }
    seen.add(name)
  }
}
