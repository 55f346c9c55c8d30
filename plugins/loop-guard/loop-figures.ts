import type { Loop, LoopKind } from './find-loop.ts'
import type { Step } from './steps.ts'

const MOST_TOOLS = 4
const LONGEST_NAME = 64

/** Returns the figures of a loop; `steps` are all its steps from the end, and `states` of them differ. */
export function figuresOf(kind: LoopKind, steps: readonly Step[], states = 1): Loop {
  const names = new Set(steps.flatMap(({ calls }) => calls.map(({ name }) => name.slice(0, LONGEST_NAME))))
  const repetitions = steps.slice(0, steps.length - states)
  return {
    kind,
    times: Math.floor(steps.length / states),
    states,
    tools: [...names].slice(0, MOST_TOOLS),
    repeatedBytes: repetitions.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}
