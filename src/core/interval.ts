/** A job that runs at intervals, never twice at a time. */
export interface Interval {
  /** Runs the job now, or joins the run in flight, also after `close`. Never rejects. */
  run(): Promise<void>
  /** Aborts the job's signal, ends the timer, and waits for the run in flight. */
  close(): Promise<void>
}

/** Input of `startInterval`. */
export interface IntervalOptions {
  /** From the end of a run to the next, in milliseconds. */
  readonly everyMs: number
  /** From the start to the first run, in milliseconds. Default: `everyMs`. */
  readonly firstMs?: number
  /** Receives the error of a run; the next run tries again. */
  readonly onError: (error: unknown) => void
}

/** Runs `work` at intervals until it is closed. Its timer keeps no process alive. */
export function startInterval(
  work: (signal: AbortSignal) => Promise<unknown>,
  { everyMs, firstMs = everyMs, onError }: IntervalOptions,
): Interval {
  const closing = new AbortController()
  let running: Promise<void> | undefined
  const run = (): Promise<void> => {
    running ??= (async () => void (await work(closing.signal)))()
      .catch(onError)
      .finally(() => {
        running = undefined
      })
    return running
  }
  const tick = async (): Promise<void> => {
    await run()
    if (!closing.signal.aborted) timer = setTimeout(tick, everyMs).unref()
  }
  let timer = setTimeout(tick, firstMs).unref()
  return {
    run,
    async close() {
      closing.abort()
      clearTimeout(timer)
      await running
    },
  }
}
