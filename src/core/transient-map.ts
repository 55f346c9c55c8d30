/**
 * A map of what is open for a short time, as a request: the oldest first, but keys that are whole numbers by their number.
 *
 * An object, since V8 links each table of a `Map` that it has replaced to the next one. Once one of them is old, all later
 * ones, with the values they had then, stay in memory until a collection of the old generation: a fifth of a stream's cost.
 */
export class TransientMap<Value> {
  readonly #values: Record<string | number, Value | undefined> = Object.create(null)

  get(key: string | number): Value | undefined {
    return this.#values[key]
  }

  set(key: string | number, value: Value): void {
    this.#values[key] = value
  }

  delete(key: string | number): void {
    delete this.#values[key]
  }

  /** Returns the first value; `undefined` when there is none. */
  first(): Value | undefined {
    for (const key in this.#values) return this.#values[key]
    return undefined
  }

  /** Returns a copy of all values. */
  values(): Value[] {
    return Object.values(this.#values) as Value[] // safe: only values are set
  }
}
