import { GatewayError } from './errors.ts'

/** What a client made up may not go into a header. */
const PLAIN_NAME = /^[\w.()[\]-]{1,80}$/
/** Names in the `x-svc-dropped` header; what is beyond is told by `...`. */
const MOST_DROPPED = 24

/**
 * What a translation could not carry into the other shape. What would change the meaning is refused, and the request
 * with it; what would not is dropped, and told to the client. Nothing is lost in silence.
 */
export class Losses {
  readonly #dropped = new Set<string>()
  readonly #refused: { readonly path: string; readonly why: string }[] = []

  /** A field that the answer does not depend on; without indexes, e.g. `messages.content.cache_control`. */
  drop(field: string): void {
    this.#dropped.add(PLAIN_NAME.test(field) ? field : '(other)')
  }

  /** A field without which the request would mean something else, with its place (`messages[2].content[0]`) and what to do. */
  refuse(path: string, why: string): void {
    this.#refused.push({ path, why })
  }

  /** Names of the dropped fields, each once, at most 24 of them. */
  get dropped(): readonly string[] {
    const names = [...this.#dropped]
    return names.length <= MOST_DROPPED ? names : [...names.slice(0, MOST_DROPPED), '...']
  }

  /** What was refused, one line each. */
  get refused(): readonly string[] {
    return this.#refused.map(({ path, why }) => `${path}: ${why}`)
  }

  /** What of this is about these top-level fields. */
  about(fields: ReadonlySet<string>): Losses {
    const some = new Losses()
    for (const name of this.#dropped) if (fields.has(fieldOf(name))) some.drop(name)
    for (const { path, why } of this.#refused) if (fields.has(fieldOf(path))) some.refuse(path, why)
    return some
  }

  /** Takes over what another translation lost. */
  add(other: Losses): void {
    for (const field of other.#dropped) this.#dropped.add(field)
    this.#refused.push(...other.#refused)
  }

  /** Throws `invalid_request` that names each field that could not be carried to `provider`. */
  assertCarried(provider: string): void {
    if (this.#refused.length === 0) return
    throw new GatewayError('invalid_request', `Provider ${provider} cannot be sent this: ${this.refused.join('; ')}.`, {
      fields: { param: this.#refused[0]?.path },
    })
  }
}

/** The top-level field that a name or a path begins with. */
function fieldOf(path: string): string {
  return /^\w+/.exec(path)?.[0] ?? ''
}
