import { GatewayError } from '../../core/errors.ts'
import type { ListedModel, RelayCall } from '../../core/ports/provider.ts'
import type { Reply } from '../../core/reply/reply.ts'
import type { CallerFacts, CredentialForm, Upstream } from '../upstream.ts'

/** A form that no caller's credential has: the operator's is created for each request. */
export const MADE_FOR_EACH_REQUEST: CredentialForm = { variable: undefined, headers: () => [], ownOf: () => undefined }

/** Options common to the clouds that host Claude. */
export interface HostedOptions {
  /** Sends requests to the address, without a credential of its own. */
  readonly upstream: Upstream
  readonly authorization: { readonly isAvailable: boolean }
  /** Names for model lists: these clouds do not list the models that can be called. */
  readonly models: readonly string[]
  readonly leftOutBetas: readonly string[]
}

/** A cloud that hosts Claude, reached with the operator's credential alone. */
export abstract class HostedProvider<Options extends HostedOptions> {
  readonly name: string
  protected readonly options: Options

  constructor(options: Options) {
    this.name = options.upstream.name
    this.options = options
  }

  get configured(): boolean {
    return this.options.authorization.isAvailable
  }

  claims(): boolean {
    return false
  }

  isUsableBy(): boolean {
    return this.configured
  }

  async listModels(): Promise<readonly ListedModel[]> {
    return this.options.models.map((id) => ({ id }))
  }

  async relay({ path }: RelayCall): Promise<Reply> {
    throw new GatewayError('not_found', `Provider ${this.name} has nothing at ${path}.`)
  }

  close(): Promise<void> {
    return this.options.upstream.close()
  }
}

/** Returns the caller without the headers that only the gateway may write here. */
export function withoutHeaders(caller: CallerFacts, own: RegExp): CallerFacts {
  return { ...caller, headers: Object.fromEntries(Object.entries(caller.headers).filter(([name]) => !own.test(name))) }
}
