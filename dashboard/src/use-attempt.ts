import { useState } from 'preact/hooks'

/** State of the last attempt. */
export interface Attempt {
  readonly error: Error | undefined
  readonly isBusy: boolean
  /** Runs `work`, and keeps its error until the next attempt. */
  attempt(work: () => Promise<void>): Promise<void>
}

/** Returns a runner of work that may fail, such as sending a change. */
export function useAttempt(): Attempt {
  const [state, setState] = useState<{ error?: Error; isBusy: boolean }>({ isBusy: false })
  return {
    error: state.error,
    isBusy: state.isBusy,
    async attempt(work) {
      setState({ isBusy: true })
      try {
        await work()
        setState({ isBusy: false })
      } catch (thrown) {
        // Safe: `call` throws errors.
        setState({ isBusy: false, error: thrown as Error })
      }
    },
  }
}
