import type { Loop, LoopKind, StepReader } from './find-loop.ts'
import { argumentsOf, type StepForm, shareArgument } from './forms.ts'
import { figuresOf } from './loop-figures.ts'
import { isMiss, namesItsCause } from './outcome.ts'
import { isActing, isWaiting } from './patience.ts'
import { hasProgress } from './progress.ts'
import { MOST_STRANGERS, PATIENCE } from './repeated-states.ts'
import type { Call, Step } from './steps.ts'

/** Factor for searches that find nothing: an agent looks in several places. */
const SEARCH = 2
/** Fewest characters of a result that is not just a confirmation: after calls that differ, and that differ in numbers. */
const LEAST_RESULT = 200
const LEAST_RESULT_OF_NUMBERED = 80

/**
 * Finds steps in a row whose calls differ, but whose results, with enough text to tell them from others, are the same. One
 * other step may lie between errors, or between calls that differ in numbers; they have to occur once more for it.
 */
export function repeatedOutcome(steps: StepReader, after: number): Loop | undefined {
  const last = steps.at(0)
  if (last === undefined || last.step.calls.length === 0 || isActing(last.step)) return undefined
  const loose = runOf(steps, last, MOST_STRANGERS)
  // An agent that looks for one thing in several ways may well find the same twice, and again.
  const { run, strangers } = kindOf(loose.run) === 'results' ? runOf(steps, last, 0) : loose
  const members = run.map(({ step }) => step)
  const kind = kindOf(run)
  const factor = run.length < after ? 0 : factorOf(kind, members)
  const least = after * factor + strangers
  if (factor === 0 || run.length < least || hasProgress(members.slice(0, least))) return undefined
  return figuresOf(kind, members)
}

function runOf(steps: StepReader, last: StepForm, most: number): { run: StepForm[]; strangers: number } {
  const run: StepForm[] = []
  let strangers = 0
  for (let index = 0; ; index++) {
    const form = steps.at(index)
    if (form?.hasOutcomeOf(last)) run.push(form)
    else if (strangers < most && steps.at(index + 1)?.hasOutcomeOf(last)) strangers++
    else return { run, strangers }
  }
}

function kindOf(run: readonly StepForm[]): LoopKind {
  const [last] = run
  if (run.every(({ looseCalls }) => looseCalls === last?.looseCalls)) return 'arguments'
  return last?.step.calls.some(({ isError }) => isError) ? 'error' : 'results'
}

/** Returns the factor for the number of occurrences, or 0 where equal results mean nothing. */
function factorOf(kind: LoopKind, steps: readonly Step[]): number {
  const [last] = steps
  if (last === undefined) return 0
  if (isWaiting(last)) return PATIENCE
  if (!last.calls.every((call) => isTelling(call, kind))) return 0
  if (!last.calls.some(({ result }) => isMiss(result))) return 1
  return last.calls.every(({ isError }) => isError) && shareArgument(steps) ? 1 : SEARCH
}

function isTelling(call: Call, kind: LoopKind): boolean {
  const { result, isError } = call
  if (isError) return namesItsCause(result)
  if (kind === 'arguments') return result.length >= LEAST_RESULT_OF_NUMBERED
  return result.length >= LEAST_RESULT && result.length > argumentsOf(call).length
}
