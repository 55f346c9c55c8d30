/** Observes a successful reply in the bytes that its client gets. */
export interface ReplyWatch {
  /** Receives a whole JSON reply. */
  body(bytes: Buffer): void
  /** Receives a part of a stream: whole events. */
  portion(bytes: Buffer | string): void
}
