import { isWaiting } from './patience.ts'
import type { Call, Step } from './steps.ts'
import { withoutVolatile } from './volatile.ts'

/** Arguments that do not change what a call does. */
const IMMATERIAL =
  /^(?:attempts?|retry|retries|tries|try|timestamp|ts|now|nonce|seq|sequence|counter|iteration|iter|(?:request|trace|correlation)[_-]?id|idempotency[_-]?key|cache[_-]?bust(?:er)?|_|_t|explanation)$/i
/** Prose about a command, of Claude Code and others. */
const PROSE = /^(?:description|justification)$/
/** Parameters of addresses that only prevent caching, and comments that count. */
const CACHE_BUSTERS = /([?&](?:_|_t|t|ts|nonce|cb|cache_?buste?r?)=)[\w.-]{1,40}/g
/** Longest result in which the call's own arguments are looked for. */
const LONGEST_ECHO = 8192
const MOST_ECHOES = 16
/** Share of a long result by which volatile values may change its length. */
const MOST_DIFFERENCE = 0.05
const SHORTEST_ECHO = 4

/** A step, and the forms in which it is compared. Each is computed on first use: most steps differ in their calls already. */
export class StepForm {
  readonly step: Step
  #calls: string | undefined
  #looseCalls: string | undefined
  #results: string | undefined
  #outcome: string | undefined
  #isWaiting: boolean | undefined
  #contentSize: number | undefined

  constructor(step: Step) {
    this.step = step
  }

  /** Tests for the same calls and results, or the same text; the order of parallel calls does not count. */
  equals(other: StepForm): boolean {
    if (this === other) return true
    if (this.step.calls.length !== other.step.calls.length || this.#callForm !== other.#callForm) return false
    return this.#resultForm === other.#resultForm
  }

  /** Tests for the same tools and results, apart from arguments that a result repeats. */
  hasOutcomeOf(other: StepForm): boolean {
    const [one, two] = [this.step.calls, other.step.calls]
    if (one.length !== two.length || this.step.userText !== other.step.userText) return false
    if (!one.every((call, index) => mayEqual(call, two[index]))) return false
    return this.#outcomeForm === other.#outcomeForm
  }

  /** Equal for steps whose calls differ at most in digits and volatile values. */
  get looseCalls(): string {
    this.#looseCalls ??= joined(this.step.calls, (call) => withoutVolatile(argumentsOf(call)).replace(/\d+/g, '#'))
    return this.#looseCalls
  }

  /** True for a step that waits. */
  get isWaiting(): boolean {
    this.#isWaiting ??= isWaiting(this.step)
    return this.#isWaiting
  }

  /** Characters of the arguments and results. */
  get contentSize(): number {
    this.#contentSize ??= this.step.calls.reduce((sum, call) => sum + argumentsOf(call).length + call.result.length, 0)
    return this.#contentSize
  }

  get #callForm(): string {
    const { calls, text, userText } = this.step
    this.#calls ??= `${userText}\n${calls.length === 0 ? withoutVolatile(text) : joined(calls, argumentsOf)}`
    return this.#calls
  }

  get #resultForm(): string {
    this.#results ??= joined(this.step.calls, (call) => `${argumentsOf(call)}\n${withoutVolatile(call.result)}`)
    return this.#results
  }

  get #outcomeForm(): string {
    this.#outcome ??= joined(this.step.calls, (call) => withoutVolatile(withoutEcho(call)))
    return this.#outcome
  }
}

/** Tests for the same tool, and results whose lengths do not rule out that they are equal but for volatile values. */
function mayEqual({ name, result }: Call, other: Call | undefined): boolean {
  if (other === undefined || name !== other.name) return false
  const longest = Math.max(result.length, other.result.length)
  return longest <= LONGEST_ECHO || Math.abs(result.length - other.result.length) <= longest * MOST_DIFFERENCE
}

function joined(calls: readonly Call[], form: (call: Call) => string): string {
  const forms = calls.map((call) => `${call.name} ${form(call)}`)
  return [...new Set(forms)].sort().join('\n\n')
}

/** Returns the arguments that matter as JSON with ordered names. */
export function argumentsOf({ input }: Call): string {
  const isCommand = 'command' in input || 'cmd' in input
  const names = Object.keys(input).filter((name) => !IMMATERIAL.test(name) && !(isCommand && PROSE.test(name)))
  return JSON.stringify(names.sort().map((name) => [name, ordered(input[name])])).replace(CACHE_BUSTERS, '$1')
}

/** Orders the names of an object one level down, where the order of models varies; deeper ones stay. */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
}

function withoutEcho({ input, result }: Call): string {
  if (result.length > LONGEST_ECHO) return result
  const values = Object.values(input).filter((value) => typeof value === 'string' && value.length >= SHORTEST_ECHO)
  // Safe: the filter leaves strings only.
  return (values.slice(0, MOST_ECHOES) as string[]).reduce((text, value) => text.replaceAll(value, '‹›'), result)
}

/** Returns true if a text argument is the same in all steps, as the file that all of them concern. */
export function shareArgument(steps: readonly Step[]): boolean {
  const sets = steps.map(({ calls }) => new Set(calls.flatMap(({ input }) => textsOf(input))))
  const [first, ...others] = sets
  return [...(first ?? [])].some((text) => others.every((set) => set.has(text)))
}

function textsOf(input: Call['input']): string[] {
  return Object.entries(input).flatMap(([name, value]) =>
    typeof value === 'string' && value.length >= SHORTEST_ECHO ? [`${name} ${value}`] : [],
  )
}
