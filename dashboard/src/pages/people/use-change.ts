import { useState } from 'preact/hooks'
import { call } from '../../api.ts'

/** Sender of changes, with the last error. */
export interface Change {
  readonly error: Error | undefined
  readonly isBusy: boolean
  /** Sends a change; resolves with the reply, or `undefined` after an error. */
  send<Reply = unknown>(method: string, path: string, body?: object): Promise<Reply | undefined>
}

/** Returns a sender of changes to the administration; `onChanged` is called after each that succeeds. */
export function useChange(onChanged: () => void): Change {
  const [state, setState] = useState<{ error?: Error; isBusy: boolean }>({ isBusy: false })
  return {
    error: state.error,
    isBusy: state.isBusy,
    async send<Reply>(method: string, path: string, body?: object) {
      setState({ isBusy: true })
      try {
        const reply = await call<Reply>(`/v1/admin/${path}`, { method, ...(body && { body }) })
        setState({ isBusy: false })
        onChanged()
        return reply
      } catch (thrown) {
        // Safe: `call` throws errors.
        setState({ isBusy: false, error: thrown as Error })
        return undefined
      }
    },
  }
}
