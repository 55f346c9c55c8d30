/** Returns the steps of a pipeline string; none for `none` and an empty string. */
export function toSteps(text: string): string[] {
  const steps = text
    .split(',')
    .map((step) => step.trim())
    .filter((step) => step !== '')
  return steps.length === 1 && steps[0] === 'none' ? [] : steps
}

/** Returns the pipeline string of steps. */
export function fromSteps(steps: readonly string[]): string {
  return steps.length === 0 ? 'none' : steps.join(',')
}

/** Returns the steps with the one at `from` moved to `to`. */
export function moved(steps: readonly string[], from: number, to: number): string[] {
  const [step] = steps.slice(from, from + 1)
  if (step === undefined) return [...steps]
  return steps.toSpliced(from, 1).toSpliced(Math.max(0, Math.min(steps.length - 1, to)), 0, step)
}
