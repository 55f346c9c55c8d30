/** The part of a Redis client that is needed here. */
export interface RenewableClient {
  /** False before the first `connect`, and from the moment that it is closed. */
  readonly isOpen: boolean
  readonly isReady: boolean
  destroy(): void
  connect(): Promise<unknown>
}

/**
 * Cuts a connection on which a reply is late or malformed, and has the client open another; commands waiting for a reply
 * on it are rejected. Redis replies are matched by their order alone: after a lost one, each would go to the command
 * before.
 */
export function renewConnection(client: RenewableClient): void {
  if (!client.isOpen || !client.isReady) return // it is closed, or connecting already
  client.destroy()
  client.connect().catch(() => {}) // logged by the client's own listener; the client retries
}
