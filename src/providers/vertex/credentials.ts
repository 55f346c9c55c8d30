import { readFile } from 'node:fs/promises'
import type { GoogleAuth } from 'google-auth-library'
import type { Log } from '../../core/ports/log.ts'
import { CredentialLookup } from '../credential-lookup.ts'

/** Gives the headers that say who asks, flat: name, value. */
export interface Authorization {
  /** Whether the operator's credential is there. */
  readonly isAvailable: boolean
  /** Throws as `CredentialLookup.get` does. */
  headers(signal: AbortSignal): Promise<string[]>
}

/** A token that the operator has given; it is not renewed. */
export function tokenAuthorization(token: string): Authorization {
  return { isAvailable: true, headers: async () => ['authorization', `Bearer ${token}`] }
}

/** Where tokens come from, and how they are asked for. */
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
/** Of what the library gives, what may go out: the token, and the project that pays for the calls. */
const SENT = ['authorization', 'x-goog-user-project']

/** Tokens of Google's own library: from a file, the environment, or the machine; kept until shortly before they end. */
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
      auth = undefined // it would remember that it has found nothing
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
  // As the option `credentials` would do, without its warning of files from strangers: this one is the operator's.
  if (credentialsFile !== undefined) auth.jsonContent = JSON.parse(await readFile(credentialsFile, 'utf8'))
  return auth
}
