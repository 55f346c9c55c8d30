import type { ServerResponse } from 'node:http'

/** A signal that is aborted when the client leaves before its reply was sent whole. */
export function leavingSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('the client left'))
  })
  return controller.signal
}
