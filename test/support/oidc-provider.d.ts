declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  /** The part of oidc-provider that the tests use. */
  // biome-ignore lint/style/noDefaultExport: the package’s own form
  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
    readonly Grant: new (
      values: object,
    ) => { addOIDCScope(scope: string): void; save(): Promise<string> }
  }
}
