import type { Server } from 'node:http'

/**
 * Whether a process wants to be sent requests: from its start until it is to stop. It serves whatever comes until it
 * closes its port; in between a load balancer can notice, so that nothing is sent to a port that is about to close. It
 * also asks for none while what it would commit is lost.
 */
export class Readiness {
  readonly #canServe: () => boolean
  #isDraining = false

  /** `canServe` is called for each question, and must be quick. */
  constructor(canServe: () => boolean) {
    this.#canServe = canServe
  }

  get state(): 'ready' | 'draining' | 'failing' {
    if (this.#isDraining) return 'draining'
    return this.#canServe() ? 'ready' : 'failing'
  }

  /** From now on it asks for no more, and each reply of `server` is the last on its connection. */
  end(server: Server): void {
    this.#isDraining = true
    server.prependListener('request', (_, response) => response.setHeader('connection', 'close'))
  }
}
