/** Passes texts between the processes that are one gateway: workers on one port, or instances that share a Redis. */
export interface Channel {
  /**
   * Sends a text to all subscribers of a topic, this process included; resolves with their number, once the text is on its
   * way to them. Rejects when it cannot be sent; texts are not kept for later subscribers. A subscriber that is busy for
   * long may be left out, unless the text is `important`: that is for rare and small ones.
   */
  publish(topic: string, text: string, how?: { readonly important?: boolean }): Promise<number>
  /** Subscribes to a topic until the channel is closed. */
  subscribe(topic: string, listener: (text: string) => void): void
  close(): Promise<void>
}
