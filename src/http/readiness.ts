import type { Server } from 'node:http'

/**
 * Readiness of a process for load balancers: ready from its start until it is asked to stop. It serves all requests
 * until its port closes; draining first lets a load balancer stop sending to a port that is about to close. It is also
 * not ready while its commits would be lost.
 */
export class Readiness {
  readonly #canServe: () => boolean
  #isDraining = false

  /** Calls `canServe` for each probe; it must be quick. */
  constructor(canServe: () => boolean) {
    this.#canServe = canServe
  }

  get state(): 'ready' | 'draining' | 'failing' {
    if (this.#isDraining) return 'draining'
    return this.#canServe() ? 'ready' : 'failing'
  }

  /** Reports `draining` from now on, and closes each connection of `server` after its next reply. */
  end(server: Server): void {
    this.#isDraining = true
    server.prependListener('request', (_, response) => response.setHeader('connection', 'close'))
  }
}
