import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { CredentialLookup, type LookupOptions } from '../credential-lookup.ts'

/** A request to be authorised; `path` is complete, as it is sent. */
export interface SignableRequest {
  readonly path: string
  readonly contentType: string
  readonly body: Buffer
}

/** Authenticates requests to the service. */
export interface Authorization {
  /** True when the operator's credential is available. */
  readonly isAvailable: boolean
  /** Returns the headers that carry the credential, flat: name, value. Throws as `CredentialLookup.get` does. */
  headers(request: SignableRequest, signal: AbortSignal): Promise<string[]>
}

/** Keys that requests are signed with. */
export interface SigningKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

/** Authorises with a Bedrock API key, sent as a bearer. */
export function bearerAuthorization(apiKey: string): Authorization {
  return { isAvailable: true, headers: async () => ['authorization', `Bearer ${apiKey}`] }
}

/** Host, region and service for which a signature is valid. */
export interface SigningScope {
  readonly region: string
  /** Value of the `host` header. */
  readonly host: string
}

const SERVICE = 'bedrock'

/**
 * Signs requests; a signature is valid for five minutes (AWS General Reference, "Signature Version 4"). It covers only the
 * required headers: `host`, `content-type` and those of the signature itself.
 */
export async function signedAuthorization(scope: SigningScope, keys: KeySource): Promise<Authorization> {
  const { SignatureV4 } = await import('@smithy/signature-v4')
  return {
    get isAvailable() {
      return keys.isAvailable
    },
    async headers({ path, contentType, body }, signal) {
      const { accessKeyId, secretAccessKey, sessionToken } = await keys.get(signal)
      const credentials = { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
      const signer = new SignatureV4({ service: SERVICE, region: scope.region, credentials, sha256: Sha256 })
      const headers = { host: scope.host, 'content-type': contentType }
      const signed = await signer.sign({
        method: 'POST',
        protocol: 'https:',
        hostname: scope.host,
        path,
        headers,
        body,
      })
      // The transport writes `host`, and the caller of this function the content type.
      return Object.entries(signed.headers).flatMap(([name, value]) => (name in headers ? [] : [name, value]))
    },
  }
}

/** Source of signing keys. */
export interface KeySource {
  readonly isAvailable: boolean
  get(signal: AbortSignal): Promise<SigningKeys>
}

/** Returns the operator's configured keys. */
export function fixedKeys(keys: SigningKeys): KeySource {
  return { isAvailable: true, get: async () => keys }
}

/** Options of a lookup in the AWS credential chain. */
export interface ChainOptions extends Pick<LookupOptions<SigningKeys>, 'provider' | 'log'> {
  readonly region: string
  readonly profile: string | undefined
}

/**
 * Finds keys in the AWS credential chain: a profile, single sign-on, a web identity, the role of a container or a machine.
 * It renews expiring keys, and makes its own connections, which do not use the proxy for provider calls.
 */
export async function chainedKeys({ provider, log, region, profile }: ChainOptions): Promise<KeySource> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node')
  const find = defaultProvider({ ...(profile !== undefined && { profile }), clientConfig: { region } })
  const missing =
    'set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role'
  const lookup = new CredentialLookup<SigningKeys>({ provider, log, missing, find: () => find() })
  await lookup.probe()
  return lookup
}

/** Node's own SHA-256, behind the interface that the signer expects. */
class Sha256 {
  readonly #hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', toBytes(secret))
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(toBytes(data))
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
}

function toBytes(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data)
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return new Uint8Array(data)
}
