import type { ServerResponse } from 'node:http'

/** A signal that is aborted when the client leaves, or has left, before its reply was sent whole. */
export function leavingSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  const leave = () => {
    if (!response.writableFinished) controller.abort(new Error('the client left'))
  }
  // Whoever left while something else was awaited is not told of again.
  if (response.destroyed) leave()
  else response.once('close', leave)
  return controller.signal
}
