const SOCKET = 'the gateway has no WebSocket of its own, and answers 426, after which clients use HTTP'

/** Tests of the suite that the gateway does not pass, with the reason; for every kind of provider the same. */
export const NOT_PASSED: Readonly<Record<string, string>> = {
  'websocket-response': SOCKET,
  'websocket-sequential-responses': SOCKET,
  'websocket-continuation': SOCKET,
  'websocket-reconnect-store-false-recovery': SOCKET,
  'websocket-previous-response-not-found': SOCKET,
  'websocket-failed-continuation-evicts-cache': SOCKET,
  'websocket-compact-new-chain': SOCKET,
}
