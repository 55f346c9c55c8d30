import { GatewayError } from 'turnpike/plugin'
import { suggest } from 'turnpike/plugin/commands'
import type { PatternSet } from './pattern-set.ts'

/** Patterns requested for a request: all that match, none, or these. */
export type Choice =
  | { readonly kind: 'matching' }
  | { readonly kind: 'none' }
  | { readonly kind: 'named'; readonly names: readonly string[] }

const MATCHING: Choice = { kind: 'matching' }
const NONE: Choice = { kind: 'none' }
const SEPARATORS = /[\s,+]+/

/** Parses a choice: names separated by commas, plus signs or spaces, or `none`. Empty means all that match. */
export function parseChoice(text: string | undefined): Choice {
  const names = [...new Set((text ?? '').split(SEPARATORS).filter((name) => name !== ''))]
  if (names.length === 0) return MATCHING
  return names.length === 1 && names[0] === 'none' ? NONE : { kind: 'named', names }
}

/** Throws `invalid_request` for a name that cannot be used, with the reason or the nearest valid one. */
export function assertKnown(choice: Choice, { patterns, disabled, faults }: PatternSet): void {
  if (choice.kind !== 'named') return
  const name = choice.names.find((one) => !patterns.has(one))
  if (name === undefined) return
  const isBroken = [...disabled, ...faults].some((pattern) => pattern.name === name)
  const why = isBroken
    ? 'is disabled; `turnpike patterns list` shows the reason.'
    : `is not known.${suggest(name, [...patterns.keys()])}`
  throw new GatewayError('invalid_request', `Pattern \`${name}\` ${why}`)
}
