import { LRUCache } from 'lru-cache'
import { GatewayError } from '../core/errors.ts'
import type { Target } from '../core/request/exchange.ts'
import { type Selection, selectTarget } from './select.ts'

/** Who may answer a model, in the order in which they are asked. */
export type Targets = readonly [Target, ...Target[]]

const MOST_NAMES_KEPT = 1000
const LONGEST_NAME_KEPT = 200
/** Receipts, logs and metrics repeat the name. Bedrock's, the longest there are, have a few hundred characters. */
const LONGEST_NAME = 1000

/**
 * The configured routes of models: a name leads to one target, or to several of which the next is asked when one fails.
 * The name may be an alias, or a model's own, which then gets a fallback.
 */
export class ModelRoutes {
  readonly #selection: Selection
  readonly #routes: ReadonlyMap<string, Targets>
  readonly #found = new LRUCache<string, Targets>({ max: MOST_NAMES_KEPT })

  /** Throws `invalid_request` when a route names a provider that is not there. */
  constructor(routes: Readonly<Record<string, readonly string[]>>, selection: Selection) {
    this.#selection = selection
    this.#routes = new Map(
      Object.entries(routes).map(([name, models]) => [
        name,
        // Safe: the schema asks for one model at least. Routes do not lead to routes, so there are no circles.
        models.map((model) => selectTarget(model, selection)) as unknown as Targets,
      ]),
    )
  }

  /** Names that are configured. */
  get names(): string[] {
    return [...this.#routes.keys()]
  }

  /** Throws `invalid_request` for a model whose prefix names no provider, and for a name that is too long to be one. */
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
