import type { Loop, LoopKind, StepReader } from './find-loop.ts'
import type { StepForm } from './forms.ts'
import { figuresOf } from './loop-figures.ts'
import { isActing } from './patience.ts'
import { hasProgress } from './progress.ts'
import type { Step } from './steps.ts'

/** Steps among which a conversation may alternate. */
const MOST_STATES = 4
/** Steps of another form that may lie in between. Each state has to occur once more for them. */
export const MOST_STRANGERS = 1
/** Factor for steps that wait, or act on something that the request does not show. */
export const PATIENCE = 5
/** Factor for steps that have little text, such as an `ok`. */
const DOUBT = 2
/** Fewest characters of arguments and results of a step that is known by them. */
const LEAST_CONTENT = 32
/** Fewest bytes of a repeated text. */
const LEAST_TEXT_BYTES = 24

/**
 * Finds up to four steps that alone make up the end of a conversation, in any order, each at least `after` times. All
 * occurrences of a step have the same calls and the same results.
 */
export function repeatedStates(steps: StepReader, after: number): Loop | undefined {
  const states: StepForm[][] = []
  for (let index = 0; ; index++) {
    const form = steps.at(index)
    if (form === undefined || isTooShort(form.step)) return undefined
    const known = states.find(([first]) => first?.equals(form))
    if (known !== undefined) known.push(form)
    else if (states.length < MOST_STATES + MOST_STRANGERS) states.push([form])
    else return undefined
    const repeated = repeatedOf(states, after)
    if (repeated === undefined) continue
    const hasProgressed = repeated.some((forms) => hasProgress(forms.map(({ step }) => step)))
    return hasProgressed ? undefined : withEarlier(steps, index, repeated)
  }
}

function isTooShort({ calls, text }: Step): boolean {
  return calls.length === 0 && Buffer.byteLength(text) < LEAST_TEXT_BYTES
}

/** Returns the states that make up the steps read so far; the first is that of the last step. */
function repeatedOf(states: readonly StepForm[][], after: number): StepForm[][] | undefined {
  const repeated = states.filter((forms, index) => index === 0 || forms.length > MOST_STRANGERS)
  const strangers = states.length - repeated.length
  if (repeated.length > MOST_STATES || strangers > MOST_STRANGERS) return undefined
  const fewest = Math.min(...repeated.map((forms) => forms.length))
  if (fewest < after + strangers) return undefined
  return fewest < after * factorOf(repeated.flatMap((forms) => forms.slice(0, 1))) + strangers ? undefined : repeated
}

function factorOf(states: readonly StepForm[]): number {
  const hasError = states.some(({ step }) => step.calls.some(({ isError }) => isError))
  if (!hasError && (states.some(({ isWaiting }) => isWaiting) || states.every(({ step }) => isActing(step))))
    return PATIENCE
  return states.every(({ step, contentSize }) => step.calls.length > 0 && contentSize < LEAST_CONTENT) ? DOUBT : 1
}

/** Adds the occurrences before those that were enough, for the figures. */
function withEarlier(steps: StepReader, last: number, states: readonly StepForm[][]): Loop {
  const all: Step[] = []
  for (let index = 0; ; index++) {
    const form = steps.at(index)
    if (form === undefined) break
    if (states.some(([first]) => first?.equals(form))) all.push(form.step)
    else if (index > last) break
  }
  return figuresOf(kindOf(states), all, states.length)
}

function kindOf([state, ...others]: readonly StepForm[][]): LoopKind {
  if (others.length > 0) return 'alternation'
  const calls = state?.[0]?.step.calls ?? []
  if (calls.length === 0) return 'text'
  return calls.some(({ isError }) => isError) ? 'error' : 'call'
}
