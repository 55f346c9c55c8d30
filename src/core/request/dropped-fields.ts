import { GatewayError } from '../errors.ts'

/** Names that may go into a header: no text of the client's own invention. */
const PLAIN_NAME = /^[\w.()[\]-]{1,80}$/
/** Names in the `x-svc-dropped` header; `...` replaces the others. */
const MOST_DROPPED = 24
/** Names that are kept: more than are shown, since only part of them may concern a reply. */
const MOST_KEPT = 256
/** Refusals that are kept, and named in the error. */
const MOST_REFUSED = 24

/**
 * Fields that a translation could not carry into the other dialect. A field that would change the meaning is refused, and
 * the request with it; any other is dropped, and reported to the client. No loss is silent.
 */
export class DroppedFields {
  readonly #dropped = new Set<string>()
  readonly #refused: { readonly path: string; readonly why: string }[] = []
  #hasMoreDropped = false
  #hasMoreRefused = false

  /** Drops a field that the reply does not depend on; without indexes, e.g. `messages.content.cache_control`. */
  drop(field: string): void {
    if (this.#dropped.size < MOST_KEPT) this.#dropped.add(PLAIN_NAME.test(field) ? field : '(other)')
    else this.#hasMoreDropped = true
  }

  /** Refuses a field that changes the request's meaning, with its place (`messages[2].content[0]`) and what to do. */
  refuse(path: string, why: string): void {
    if (this.#refused.length < MOST_REFUSED) this.#refused.push({ path, why })
    else this.#hasMoreRefused = true
  }

  /** Names of the dropped fields, each once, at most 24 of them. */
  get dropped(): readonly string[] {
    const names = [...this.#dropped]
    const hasMore = this.#hasMoreDropped || names.length > MOST_DROPPED
    return hasMore ? [...names.slice(0, MOST_DROPPED), '...'] : names
  }

  /** Refused fields, one line each, at most 24 of them. */
  get refused(): readonly string[] {
    return this.#refused.map(({ path, why }) => `${path}: ${why}`)
  }

  /** Selects the dropped and refused fields that belong to these top-level fields. */
  about(fields: ReadonlySet<string>): DroppedFields {
    const some = new DroppedFields()
    for (const name of this.#dropped) if (fields.has(fieldOf(name))) some.drop(name)
    for (const { path, why } of this.#refused) if (fields.has(fieldOf(path))) some.refuse(path, why)
    some.#hasMoreDropped = this.#hasMoreDropped
    some.#hasMoreRefused = this.#hasMoreRefused
    return some
  }

  /** Adds the dropped and refused fields of another translation. */
  add(other: DroppedFields): void {
    for (const field of other.#dropped) this.drop(field)
    for (const { path, why } of other.#refused) this.refuse(path, why)
    this.#hasMoreDropped ||= other.#hasMoreDropped
    this.#hasMoreRefused ||= other.#hasMoreRefused
  }

  /** Throws `invalid_request` that names each field that could not be carried to `provider`. */
  assertCarried(provider: string): void {
    if (this.#refused.length === 0) return
    const more = this.#hasMoreRefused ? '; and more' : ''
    throw new GatewayError(
      'invalid_request',
      `Provider ${provider} cannot be sent this: ${this.refused.join('; ')}${more}.`,
      {
        fields: { param: this.#refused[0]?.path },
      },
    )
  }
}

/** Returns the top-level field that a name or a path begins with. */
function fieldOf(path: string): string {
  return /^\w+/.exec(path)?.[0] ?? ''
}
