import type { ServerResponse } from 'node:http'

/** Calls `listener` once: when the response closes, or at once when it has closed while something else was awaited. */
export function onClosed(response: ServerResponse, listener: () => void): void {
  if (response.destroyed) listener()
  else response.once('close', listener)
}

/** A controller that is aborted when the client leaves, or has left, before its reply was sent whole. */
export function disconnectController(response: ServerResponse): AbortController {
  const controller = new AbortController()
  onClosed(response, () => {
    if (!response.writableFinished) controller.abort(new Error('the client left'))
  })
  return controller
}

/** The signal of a `disconnectController`. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  return disconnectController(response).signal
}
