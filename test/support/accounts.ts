import { mintSessionToken } from '../../src/accounts/sessions/mint.ts'
import { type Environment, type Gateway, startGateway } from './gateway.ts'
import { type GatewayProcess, type GatewayProcessOptions, startGatewayProcess } from './gateway-process.ts'
import { type Reply, type SendOptions, send } from './http-client.ts'
import type { JsonObject } from './json.ts'

/** Secret that signs the session tokens of tests. */
export const SESSION_SECRET = 'the-shared-secret-of-tests-and-nothing-else'

const HOUR_MS = 3_600_000

/** Environment of cloud mode, in which callers use the operator's provider credential. */
export const CLOUD: Environment = {
  SVC_MODE: 'cloud',
  SVC_SESSION_SECRET: SESSION_SECRET,
  SVC_PROVIDERS_SHARED: 'true',
}

/** Starts a gateway in cloud mode; its tokens come from `sessionToken`. `env` overrides. */
export function startCloudGateway(env: Environment = {}): Promise<Gateway> {
  return startGateway({ ...CLOUD, ...env })
}

/** Starts the same in a process of its own. */
export function startCloudProcess(env: Environment = {}, options?: GatewayProcessOptions): Promise<GatewayProcess> {
  return startGatewayProcess({ ...CLOUD, ...env }, options)
}

/** Signs a session token of a user, valid for an hour. */
export function sessionToken(userId: string): Promise<string> {
  return mintSessionToken({
    secret: SESSION_SECRET,
    userId,
    userClaim: 'sub',
    issuer: undefined,
    audience: undefined,
    azp: [],
    nowMs: Date.now(),
    ttlMs: HOUR_MS,
  })
}

/** Returns a secret as a bearer header. */
export function bearer(secret: string): { authorization: string } {
  return { authorization: `Bearer ${secret}` }
}

/** Sends a request with a user's session. */
export async function sendAs(userId: string, url: string, options: SendOptions): Promise<Reply> {
  return send(url, { ...options, headers: { ...bearer(await sessionToken(userId)), ...options.headers } })
}

/** A key as it is shown once, on its creation. */
export interface CreatedKey {
  id: string
  key: string
  prefix: string
  name?: string
  pipelineConfig: string | null
  createdAt: string
}

/** Databases of a busy machine may need longer than the gateway waits: a client tries again, as it is asked to. */
const MOST_TRIES = 3

/** Creates a key for a user. Rejects when the gateway does not. */
export async function createKey(
  { url }: Pick<Gateway, 'url'>,
  userId: string,
  body: JsonObject = {},
): Promise<CreatedKey> {
  const create = () => sendAs(userId, url, { path: '/v1/keys', body })
  let reply = await create()
  for (let i = 1; i < MOST_TRIES && reply.status === 503; i++) reply = await create()
  if (reply.status !== 201) throw new Error(`The key was not created: ${reply.status} ${reply.text}`)
  return reply.json as unknown as CreatedKey
}
