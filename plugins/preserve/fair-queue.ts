/** Queue of waiting jobs by caller: next is the first job of the caller that has used least CPU. */
export class FairQueue<Job> {
  readonly #usedMs: (scope: string) => number
  readonly #lines = new Map<string, Job[]>()
  #size = 0

  /** `usedMs` returns the CPU that a caller has used recently, in milliseconds. */
  constructor(usedMs: (scope: string) => number) {
    this.#usedMs = usedMs
  }

  /** Number of waiting jobs. */
  get size(): number {
    return this.#size
  }

  /** Returns the number of a caller's waiting jobs. */
  sizeOf(scope: string): number {
    return this.#lines.get(scope)?.length ?? 0
  }

  push(scope: string, job: Job): void {
    const line = this.#lines.get(scope)
    if (line === undefined) this.#lines.set(scope, [job])
    else line.push(job)
    this.#size++
  }

  /** Removes and returns the next job. */
  take(): Job | undefined {
    let next: { scope: string; usedMs: number } | undefined
    for (const scope of this.#lines.keys()) {
      const usedMs = this.#usedMs(scope)
      if (next === undefined || usedMs < next.usedMs) next = { scope, usedMs }
    }
    if (next === undefined) return undefined
    const job = this.#lines.get(next.scope)?.[0]
    if (job !== undefined) this.remove(next.scope, job)
    return job
  }

  /** Removes a job that is no longer needed. */
  remove(scope: string, job: Job): void {
    const line = this.#lines.get(scope) ?? []
    const index = line.indexOf(job)
    if (index < 0) return
    line.splice(index, 1)
    this.#size--
    if (line.length === 0) this.#lines.delete(scope)
  }
}
