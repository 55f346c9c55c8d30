import { readFile } from 'node:fs/promises'
import type { GoogleAuth } from 'google-auth-library'
import type { Log } from '../../core/ports/log.ts'
import { CredentialLookup } from '../credential-lookup.ts'

/** Authenticates requests. */
export interface Authorization {
  /** True when the operator's credential is available. */
  readonly isAvailable: boolean
  /** Returns the headers, flat: name, value. Throws as `CredentialLookup.get` does. */
  headers(signal: AbortSignal): Promise<string[]>
}

/** Authorises with the operator's own token; it is not renewed. */
export function tokenAuthorization(token: string): Authorization {
  return { isAvailable: true, headers: async () => ['authorization', `Bearer ${token}`] }
}

/** Options of Google's credentials. */
export interface GoogleOptions {
  readonly credentialsFile: string | undefined
  readonly proxy: string | undefined
  readonly noProxy: string | undefined
  readonly log: Log
}

const SCOPES = ['https://www.googleapis.com/auth/cloud-platform']
const TIMEOUT_MS = 10_000
const MISSING =
  'set GOOGLE_APPLICATION_CREDENTIALS or `credentials_file`, sign in with `gcloud auth application-default login`, or give the machine a service account'
/** The library's headers that may be sent: the token, and the project that pays for the calls. */
const SENT = ['authorization', 'x-goog-user-project']

/** Authorises with tokens of Google's own library: from a file, the environment, or the machine; cached until they expire. */
export async function googleAuthorization(options: GoogleOptions): Promise<Authorization> {
  const find = headersFinder(options)
  const lookup = new CredentialLookup({ provider: 'vertex', log: options.log, missing: MISSING, find })
  await lookup.probe()
  return {
    get isAvailable() {
      return lookup.isAvailable
    },
    headers: (signal) => lookup.get(signal),
  }
}

function headersFinder(options: GoogleOptions): () => Promise<string[]> {
  let auth: Promise<GoogleAuth> | undefined
  return async () => {
    auth ??= createAuth(options)
    try {
      const client = await (await auth).getClient()
      const headers = await client.getRequestHeaders()
      return SENT.flatMap((name) => {
        const value = headers.get(name)
        return value === null ? [] : [name, value]
      })
    } catch (error) {
      auth = undefined // it would cache that it has found nothing
      throw error
    }
  }
}

async function createAuth({ credentialsFile, proxy, noProxy }: GoogleOptions): Promise<GoogleAuth> {
  const { GoogleAuth } = await import('google-auth-library')
  const transporterOptions = {
    timeout: TIMEOUT_MS,
    ...(proxy !== undefined && { proxy }),
    ...(noProxy !== undefined && { noProxy: noProxy.split(',').map((host) => host.trim()) }),
  }
  const auth = new GoogleAuth({ scopes: SCOPES, clientOptions: { transporterOptions } })
  // Like the option `credentials`, without its warning of untrusted files: this one is the operator's.
  if (credentialsFile !== undefined) auth.jsonContent = JSON.parse(await readFile(credentialsFile, 'utf8'))
  return auth
}
