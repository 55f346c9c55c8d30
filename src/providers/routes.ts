import { LRUCache } from 'lru-cache'
import { GatewayError } from '../core/errors.ts'
import type { Target } from '../core/request/exchange.ts'
import { type Selection, selectTarget } from './select.ts'

/** Targets of a model, in the order in which they are tried. */
export type Targets = readonly [Target, ...Target[]]

const MOST_NAMES_KEPT = 1000
const LONGEST_NAME_KEPT = 200
/** Longest name of a model: receipts, logs and metrics repeat it. Bedrock's, the longest known, have a few hundred characters. */
const LONGEST_NAME = 1000

/**
 * The configured routes of models: a name leads to one target, or to several, of which the next is tried when one fails.
 * The name may be an alias, or a model's own, which then gets a fallback.
 */
export class ModelRoutes {
  readonly #selection: Selection
  readonly #routes: ReadonlyMap<string, Targets>
  readonly #found = new LRUCache<string, Targets>({ max: MOST_NAMES_KEPT })

  /** Throws `invalid_request` when a route names an unknown provider. */
  constructor(routes: Readonly<Record<string, readonly string[]>>, selection: Selection) {
    this.#selection = selection
    this.#routes = new Map(
      Object.entries(routes).map(([name, models]) => [
        name,
        // Safe: the schema requires at least one model. Routes do not lead to routes, so there are no cycles.
        models.map((model) => selectTarget(model, selection)) as unknown as Targets,
      ]),
    )
  }

  /** Configured names. */
  get names(): string[] {
    return [...this.#routes.keys()]
  }

  /** Returns a model's targets. Throws `invalid_request` for an unknown prefix, and for a name that is too long. */
  find(model: string): Targets {
    if (model.length > LONGEST_NAME)
      throw new GatewayError(
        'invalid_request',
        `model: expected a name of at most ${LONGEST_NAME} characters, got ${model.length}.`,
      )
    const known = this.#routes.get(model) ?? this.#found.get(model)
    if (known !== undefined) return known
    const found: Targets = [selectTarget(model, this.#selection)]
    if (model.length <= LONGEST_NAME_KEPT) this.#found.set(model, found)
    return found
  }
}
