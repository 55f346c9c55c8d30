/** What is needed of a client of Redis. */
export interface RenewableClient {
  /** False before it is first told to connect, and from the moment that it is closed. */
  readonly isOpen: boolean
  readonly isReady: boolean
  destroy(): void
  connect(): Promise<unknown>
}

/**
 * Cuts a connection on which an answer is late or could not be understood, and has the client make another; whoever waits
 * for an answer on it is refused. Answers are told apart by their order alone: after one that was lost, each would go to
 * whoever asked before.
 */
export function renewConnection(client: RenewableClient): void {
  if (!client.isOpen || !client.isReady) return // it is closed, or connecting already
  client.destroy()
  client.connect().catch(() => {}) // told by the client's own listener; it goes on trying
}
