import type { PresentedCredential } from '../ports/provider.ts'
import type { ReplyDialect } from '../reply/reply-dialect.ts'
import type { Caller } from './caller.ts'
import type { ClientRequest } from './client-request.ts'
import { DeclaredWaits } from './declared-waits.ts'
import type { ExchangeState } from './exchange-state.ts'
import type { RouteName } from './route-name.ts'
import { NO_TAGS } from './tags.ts'

/** Facts of a request; of these plugins change the texts of `client` alone. */
export abstract class ExchangeFacts extends DeclaredWaits {
  readonly #state: ExchangeState

  constructor(state: ExchangeState) {
    super()
    this.#state = state
  }

  /** Request id, `req_…`. */
  get id(): string {
    return this.#state.id
  }

  get route(): RouteName {
    return this.#state.route
  }

  get caller(): Caller {
    return this.#state.caller
  }

  /** Tags of the key and of the header `x-svc-tag`: sorted, without repetitions, at most 8. */
  get tags(): readonly string[] {
    return this.#state.tags ?? NO_TAGS
  }

  get credential(): PresentedCredential | undefined {
    return this.#state.credential
  }

  get headers(): NodeJS.Dict<string | string[]> {
    return this.#state.headers
  }

  get query(): string {
    return this.#state.query
  }

  /** The client's raw bytes, without the edits of plugins. */
  get original(): Buffer {
    return this.received.document.bytes
  }

  /** @internal the client's request as it came */
  get received(): ClientRequest {
    return this.#state.received ?? this.#state.client
  }

  /** The client's request, in its own dialect. */
  get client(): ClientRequest {
    return this.#state.client
  }

  /** The shape in which the client reads replies. */
  get dialect(): ReplyDialect {
    return this.#state.client.dialect
  }

  /** True if the client wants server-sent events. */
  get wantsStream(): boolean {
    return this.#state.client.document.stream
  }
}
