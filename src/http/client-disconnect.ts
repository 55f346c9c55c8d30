import type { ServerResponse } from 'node:http'

/** Calls `listener` once, when the response closes; immediately if it is closed already. */
export function onClosed(response: ServerResponse, listener: () => void): void {
  if (response.destroyed) listener()
  // Node emits it once; `once` would wrap each listener, and remove them one by one.
  else response.on('close', listener)
}

/** Creates a controller that is aborted when the client disconnects before its reply is complete. */
export function disconnectController(response: ServerResponse): AbortController {
  const controller = new AbortController()
  onClosed(response, () => {
    if (!response.writableFinished) controller.abort(new Error('the client left'))
  })
  return controller
}

/** Creates the signal of a `disconnectController`. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  return disconnectController(response).signal
}
