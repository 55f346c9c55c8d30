import type { Server } from 'node:http'

/**
 * Whether a process wants to be sent requests: from its start until it is to stop. It serves whatever comes until it
 * closes its port; in between a load balancer can notice, so that nothing is sent to a port that is about to close.
 */
export class Readiness {
  #isReady = true

  get isReady(): boolean {
    return this.#isReady
  }

  /** From now on it asks for no more, and each reply of `server` is the last on its connection. */
  end(server: Server): void {
    this.#isReady = false
    server.prependListener('request', (_, response) => response.setHeader('connection', 'close'))
  }
}
