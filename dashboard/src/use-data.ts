import { useCallback, useEffect, useState } from 'preact/hooks'
import { ApiError, call } from './api.ts'

/** Event of a session that ended while a page was open. */
export const SIGNED_OUT = 'turnpike-signed-out'

/** Data being loaded: previous data remain until newer ones arrive. */
export interface Loaded<T> {
  readonly data: T | undefined
  readonly error: Error | undefined
  readonly isBusy: boolean
  reload(): void
}

/** Loads the reply of a path, again whenever the path changes; `undefined` loads nothing. */
export function useData<T>(path: string | undefined): Loaded<T> {
  const [state, setState] = useState<{ path?: string; data?: T; error?: Error }>({})
  const [round, setRound] = useState(0)
  const [isBusy, setBusy] = useState(path !== undefined)
  // A new round loads the same path again.
  useEffect(() => {
    if (path === undefined) return
    const leaving = new AbortController()
    setBusy(true)
    call<T>(path, { signal: leaving.signal })
      .then((data) => setState({ path, data }))
      .catch((error: Error) => {
        if (leaving.signal.aborted) return
        setState((old) => ({ ...old, error }))
        if (error instanceof ApiError && error.status === 401) dispatchEvent(new Event(SIGNED_OUT))
      })
      .finally(() => {
        if (!leaving.signal.aborted) setBusy(false)
      })
    return () => leaving.abort()
  }, [path, round])
  const reload = useCallback(() => setRound((old) => old + 1), [])
  return { data: state.data, error: state.error, isBusy, reload }
}
