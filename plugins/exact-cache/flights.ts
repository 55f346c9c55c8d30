import type { Flight } from './flight.ts'

/**
 * The flights of a process, by the keys of their requests. An object, since V8 links each table of a `Map` that it has
 * replaced to the next one: once one of them is old, all later ones, with the requests that ran then, stay in memory until a
 * collection of the old generation, which took a tenth of a stream's cost.
 */
export class Flights {
  readonly #byKey: Record<string, Flight | undefined> = Object.create(null)

  get(key: string): Flight | undefined {
    return this.#byKey[key]
  }

  /** Adds a flight; it replaces one that takes no newcomers. */
  add(key: string, flight: Flight): void {
    this.#byKey[key] = flight
  }

  /** Removes this flight, but not one that has replaced it. */
  remove(key: string, flight: Flight): void {
    if (this.#byKey[key] === flight) delete this.#byKey[key]
  }
}
