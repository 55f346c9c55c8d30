import { RewritableReply } from './rewritable-reply.ts'

/** Waits that a plugin declares, in which its time budget is paused. */
export abstract class DeclaredWaits extends RewritableReply {
  /** Running waits. */
  #waits = 0
  /** @internal called when the plugin starts and stops a wait that it declared */
  onTimeoutPause: ((isWaiting: boolean) => void) | undefined

  /** Waits for `work` while the plugin's time budget is paused, until the last of such waits ends. */
  async withoutTimeout<T>(work: Promise<T>): Promise<T> {
    if (this.#waits++ === 0) this.onTimeoutPause?.(true)
    try {
      return await work
    } finally {
      if (--this.#waits === 0) this.onTimeoutPause?.(false)
    }
  }
}
