import { call } from '../../api.ts'
import { useAttempt } from '../../use-attempt.ts'

/** Sender of changes, with the last error. */
export interface Change {
  readonly error: Error | undefined
  readonly isBusy: boolean
  /** Sends a change; resolves with the reply, or `undefined` after an error. */
  send<Reply = unknown>(method: string, path: string, body?: object): Promise<Reply | undefined>
}

/** Returns a sender of changes to the administration; `onChanged` is called after each that succeeds. */
export function useChange(onChanged: () => void): Change {
  const { attempt, error, isBusy } = useAttempt()
  return {
    error,
    isBusy,
    async send<Reply>(method: string, path: string, body?: object) {
      let reply: Reply | undefined
      await attempt(async () => {
        reply = await call<Reply>(`/v1/admin/${path}`, { method, ...(body && { body }) })
        onChanged()
      })
      return reply
    },
  }
}
