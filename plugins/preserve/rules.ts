import { GatewayError, z } from 'turnpike/plugin'
import { headerSchema, itemsOf, type PreserveOptions } from './options.ts'

/** Rules for preserving texts, from all sources: each source only adds. */
export interface PreserveRules {
  readonly pins: boolean
  readonly tools: readonly string[]
  readonly ranges: readonly string[]
  /** Regular expressions in RE2's syntax. */
  readonly patterns: readonly string[]
  readonly lastTurns: number
}

const HEADER = 'x-svc-preserve'
const LONGEST_HEADER = 4000

/** Combines the rules of the operator and of the pipeline string. */
export function rulesOf(operators: PreserveOptions, effective: PreserveOptions): PreserveRules {
  return {
    pins: operators.pins || effective.pins,
    tools: [...new Set([operators.tools, effective.tools].flatMap(itemsOf))],
    ranges: [...new Set([operators.ranges, effective.ranges].flatMap(itemsOf))],
    patterns: [...new Set([operators.pattern, ...operators.patterns, effective.pattern].flatMap(given))],
    lastTurns: Math.max(operators.last_turns, effective.last_turns),
  }
}

/** Adds the rules of the request's header, which has the form of a URL's query. Throws `invalid_request`. */
export function withHeader(rules: PreserveRules, header: string | string[]): PreserveRules {
  const text = [header].flat().join('&')
  if (text.length > LONGEST_HEADER) {
    throw new GatewayError(
      'invalid_request',
      `${HEADER}: expected at most ${LONGEST_HEADER} characters, got ${text.length}.`,
    )
  }
  const members = Object.fromEntries(new URLSearchParams(text))
  const lastTurns = members.last_turns === undefined ? {} : { last_turns: Number(members.last_turns) }
  const parsed = headerSchema.safeParse({ ...members, ...lastTurns })
  if (!parsed.success) {
    throw new GatewayError('invalid_request', `${HEADER}: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`)
  }
  const { tools, ranges, pattern, last_turns } = parsed.data
  return {
    pins: rules.pins,
    tools: [...rules.tools, ...itemsOf(tools)],
    ranges: [...rules.ranges, ...itemsOf(ranges)],
    patterns: [...rules.patterns, ...given(pattern)],
    lastTurns: Math.max(rules.lastTurns, last_turns),
  }
}

function given(pattern: string | undefined): string[] {
  return pattern === undefined ? [] : [pattern]
}
