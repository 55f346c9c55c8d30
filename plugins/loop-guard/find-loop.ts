import type { RequestDocument } from 'turnpike/plugin'
import { StepForm } from './forms.ts'
import { repeatedOutcome } from './repeated-outcome.ts'
import { repeatedStates } from './repeated-states.ts'
import { stepsFromEnd } from './steps.ts'

/** Kinds of repetition, as the header shows them. */
export type LoopKind = 'call' | 'error' | 'arguments' | 'results' | 'alternation' | 'text'

/** A repetition at the end of a conversation. */
export interface Loop {
  readonly kind: LoopKind
  /** How often the step occurred, or each of the alternating ones. */
  readonly times: number
  /** Number of alternating steps; 1 for all kinds but `alternation`. */
  readonly states: number
  /** Names of the tools, at most four. */
  readonly tools: readonly string[]
  /** Bytes of the request's messages that are repetitions. */
  readonly repeatedBytes: number
}

/** The steps of a conversation from its end, read as far as they are needed. */
export interface StepReader {
  /** Returns the form of the step `index` before the last one, or `undefined` before the first. */
  at(index: number): StepForm | undefined
}

/** Returns the repetition with which a conversation ends, if its step occurred at least `after` times. */
export function findLoop(request: RequestDocument, after: number): Loop | undefined {
  const steps = createReader(request)
  return repeatedStates(steps, after) ?? repeatedOutcome(steps, after)
}

function createReader(request: RequestDocument): StepReader {
  const source = stepsFromEnd(request)
  const read: StepForm[] = []
  return {
    at(index) {
      while (read.length <= index) {
        const { value, done } = source.next()
        if (done === true) return undefined
        read.push(new StepForm(value))
      }
      return read[index]
    },
  }
}
