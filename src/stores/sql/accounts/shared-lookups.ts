import { TransientMap } from '../../../core/transient-map.ts'

interface Running<Value> {
  readonly done: Promise<unknown>
  /** Begins after the running one, for all callers that came meanwhile. */
  next: Promise<Value> | undefined
}

/**
 * Shares look-ups: at most one runs for each name, and all callers that come meanwhile share the next one. So each result
 * is of a look-up that began after its request, and concurrent requests with one key take one connection.
 */
export class SharedLookups<Value> {
  readonly #lookUp: (name: string) => Promise<Value>
  readonly #running = new TransientMap<Running<Value>>()

  constructor(lookUp: (name: string) => Promise<Value>) {
    this.#lookUp = lookUp
  }

  find(name: string): Promise<Value> {
    const running = this.#running.get(name)
    if (running === undefined) return this.#begin(name)
    running.next ??= running.done.then(() => this.#begin(name))
    return running.next
  }

  #begin(name: string): Promise<Value> {
    const found = this.#lookUp(name)
    const running: Running<Value> = { done: found.catch(() => {}), next: undefined }
    this.#running.set(name, running)
    void running.done.then(() => {
      if (running.next === undefined) this.#running.delete(name)
    })
    return found
  }
}
