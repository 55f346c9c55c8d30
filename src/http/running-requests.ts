import type { ServerResponse } from 'node:http'
import { GatewayError } from '../core/errors.ts'
import { onClosed } from './client-disconnect.ts'

const RETRY_AFTER_SECONDS = '1'

/** Counts the in-flight requests of each key or prepaid session in this process. */
export class RunningRequests {
  readonly #most: number
  readonly #running = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** Counts a request until its reply has ended. Throws `rate_limit_error` when its scope has too many in-flight. */
  enter(scope: string, response: ServerResponse): void {
    if (response.destroyed) return
    const running = this.#running.get(scope) ?? 0
    if (running >= this.#most) throw tooMany(this.#most)
    this.#running.set(scope, running + 1)
    onClosed(response, () => this.#leave(scope))
  }

  #leave(scope: string): void {
    const running = this.#running.get(scope) ?? 0
    if (running > 1) this.#running.set(scope, running - 1)
    else this.#running.delete(scope)
  }
}

function tooMany(most: number): GatewayError {
  return new GatewayError(
    'rate_limit_error',
    `${most} requests with this credential are running. Send it again when one has ended.`,
    {
      headers: { 'retry-after': RETRY_AFTER_SECONDS },
    },
  )
}
