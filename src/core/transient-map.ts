/**
 * A map of what is open for a short time, as a request, in the order in which it was added: but whole numbers come first.
 *
 * An object, since V8 links each table of a `Map` that it has replaced to the next one. Once one of them is old, all later
 * ones, with the values they had then, stay in memory until a collection of the old generation: an eighth of a stream's cost.
 */
export class TransientMap<Value> {
  readonly #values: Record<string, Value | undefined> = Object.create(null)

  get(key: string): Value | undefined {
    return this.#values[key]
  }

  set(key: string, value: Value): void {
    this.#values[key] = value
  }

  delete(key: string): void {
    delete this.#values[key]
  }

  /** Returns a copy of all values. */
  values(): Value[] {
    return Object.values(this.#values) as Value[] // safe: only values are set
  }
}
