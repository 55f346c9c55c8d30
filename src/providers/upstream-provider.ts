import type { PresentedCredential, RelayCall } from '../core/ports/provider.ts'
import type { Reply } from '../core/reply/reply.ts'
import type { Upstream } from './upstream.ts'

/** A provider that accepts a caller's own credential, and whose routes may be relayed unchanged. */
export abstract class UpstreamProvider {
  readonly name: string
  readonly configured: boolean
  protected readonly upstream: Upstream

  constructor(upstream: Upstream) {
    this.name = upstream.name
    this.configured = upstream.configured
    this.upstream = upstream
  }

  isUsableBy(credential: PresentedCredential | undefined): boolean {
    return this.upstream.isUsableBy(credential)
  }

  callerParts(credential: PresentedCredential | undefined, headers: RelayCall['headers']): string {
    return this.upstream.callerParts(credential, headers)
  }

  relay({ method, path, query, body, ...caller }: RelayCall): Promise<Reply> {
    return this.upstream.call({ method, path: path + query, body }, caller)
  }

  close(): Promise<void> {
    return this.upstream.close()
  }
}
