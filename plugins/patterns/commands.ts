import type { CommandCall, PluginCommand } from 'turnpike/plugin/commands'
import { type Choice, parseChoice } from './choice.ts'
import { decide, Injected } from './decide.ts'
import { readLibrary } from './library.ts'
import { aloneWith, type Pattern, type PatternSet } from './pattern-set.ts'
import { tagged } from './tag.ts'
import { boundTokens } from './tokens.ts'

/** Options that the commands need. */
interface Options {
  readonly dirs: readonly string[]
  readonly max_patterns: number
  readonly max_tokens: number
  readonly vars: Readonly<Record<string, string>>
}

const MATCHING: Choice = parseChoice(undefined)
/** Most patterns without a match that are shown with their scores. */
const SHOWN_RIVALS = 3

/** Adds `turnpike patterns list|test|try`. */
export const commands: readonly PluginCommand<Options>[] = [
  { name: 'list', summary: 'List the patterns, and invalid ones with the reason.', run: list },
  { name: 'test', summary: 'Run the tests of all patterns. Exit code 1 when one fails.', run: test },
  {
    name: 'try',
    summary:
      'Show what would be injected into a first message with this text, assuming that all other conditions hold.',
    argument: { name: 'text', description: 'the user’s message', example: '"Please review this function"' },
    run: tryText,
  },
]

function list({ options, json, print }: CommandCall<Options>): boolean {
  const set = readLibrary(options.dirs)
  const rows = [
    ...[...set.patterns.values()].map((pattern) => ({ ...summaryOf(pattern, options), state: 'ready' })),
    ...set.disabled.map(({ name, file, description }) => ({ name, file, description, state: 'disabled' })),
    ...set.faults.map(({ name, file, reason }) => ({ name, file, description: reason, state: 'broken' })),
  ]
  if (json) print(JSON.stringify(rows, undefined, 2))
  else if (rows.length === 0) print(`No patterns in ${options.dirs.join(', ')}.`)
  else for (const row of rows) print(rowOf(row, Math.max(...rows.map(({ name }) => name.length))))
  return true
}

interface Row {
  readonly name: string
  readonly state: string
  readonly description: string
  readonly fires?: string
  readonly tokens?: number
}

function rowOf({ name, state, description, fires, tokens }: Row, width: number): string {
  const about = fires === undefined ? state : `${fires}, up to ${tokens} tokens`
  return `${name.padEnd(width)}  ${about}\n${' '.repeat(width)}  ${description}`
}

function summaryOf(
  { name, file, description, match, priority, position, scope, body }: Pattern,
  { max_tokens }: Pick<Options, 'max_tokens'>,
) {
  const tokens = boundTokens(tagged(name, body))
  const fires = match === undefined ? 'when requested' : 'when it matches'
  return {
    ...{ name, file, description, priority, position, scope, tokens },
    fires: tokens > max_tokens ? `never, being over max_tokens (${max_tokens})` : fires,
  }
}

function test({ options, json, print }: CommandCall<Options>): boolean {
  const { patterns, faults } = readLibrary(options.dirs)
  const passed = [...patterns.values()].map(({ name, tests }) => ({
    name,
    should: tests.should.length,
    shouldNot: tests.should_not.length,
  }))
  if (json) print(JSON.stringify({ passed, failed: faults }, undefined, 2))
  else {
    for (const { name, should, shouldNot } of passed)
      print(`✔ ${name}: ${should} should match, ${shouldNot} should not`)
    for (const { name, reason } of faults) print(`✘ ${name}: ${reason}`)
    print(`\n${passed.length} patterns passed, ${faults.length} failed`)
  }
  return faults.length === 0
}

function tryText({ options, argument, json, print }: CommandCall<Options>): boolean {
  const set = readLibrary(options.dirs)
  const situation = aloneWith(argument, set.index)
  const injected = new Injected({ maxPatterns: options.max_patterns, maxTokens: options.max_tokens })
  const sources = { headers: {}, config: options.vars }
  const { injections, dropped } = decide({ set, choice: MATCHING, situation, sources, injected })
  const matched = injections.map((one) => ({ ...one, score: round(set.patterns.get(one.name)?.score(situation) ?? 0) }))
  const rivals = rivalsOf(set, argument, new Set([...injections, ...dropped].map(({ name }) => name)))
  if (json) print(JSON.stringify({ injected: matched, dropped, rivals }, undefined, 2))
  else {
    if (matched.length === 0) print('Nothing would be injected.')
    for (const { name, score, position, tokens, text } of matched)
      print(`${name}  score ${score}, ${position}, up to ${tokens} tokens\n\n${text.replaceAll(/^/gm, '  ')}\n`)
    for (const { name, reason } of dropped) print(`${name}  matches, but is left out: ${reason}`)
    for (const { name, score } of rivals) print(`${name}  does not match; its examples score ${score}`)
  }
  return true
}

/** Returns the patterns whose examples come nearest without matching: where a threshold may be wrong. */
function rivalsOf(set: PatternSet, text: string, shown: ReadonlySet<string>): { name: string; score: number }[] {
  const { scores } = aloneWith(text, set.index).text('last_user')
  return [...scores]
    .filter(([name]) => set.patterns.has(name) && !shown.has(name))
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN_RIVALS)
    .map(([name, score]) => ({ name, score: round(score) }))
}

function round(score: number): number {
  return Math.round(score * 100) / 100
}
