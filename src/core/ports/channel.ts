/** Passes texts between the processes that are one gateway: workers on one port, or instances that share a Redis. */
export interface Channel {
  /**
   * Tells all who listen to a topic, this process too if it does; resolves with how many those are, once the text is on its
   * way to them. Rejects when it cannot be told; nothing is kept for later.
   */
  publish(topic: string, text: string): Promise<number>
  /** Listens to a topic for as long as the channel is open. */
  subscribe(topic: string, listener: (text: string) => void): void
  close(): Promise<void>
}
