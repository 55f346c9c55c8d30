import { mintSessionToken } from '../../src/accounts/sessions/mint.ts'
import { type Environment, type Gateway, startGateway } from './gateway.ts'
import { type GatewayProcess, type GatewayProcessOptions, startGatewayProcess } from './gateway-process.ts'
import { type Reply, type SendOptions, send } from './http-client.ts'
import type { JsonObject } from './json.ts'

/** What session tokens of tests are signed with. */
export const SESSION_SECRET = 'the-shared-secret-of-tests-and-nothing-else'

const HOUR_MS = 3_600_000

/** The environment of cloud mode, whose callers use the operator's provider credential. */
export const CLOUD: Environment = {
  SVC_MODE: 'cloud',
  SVC_SESSION_SECRET: SESSION_SECRET,
  SVC_PROVIDERS_SHARED: 'true',
}

/** Starts a gateway in cloud mode; its tokens come from `sessionToken`. `env` is laid over. */
export function startCloudGateway(env: Environment = {}): Promise<Gateway> {
  return startGateway({ ...CLOUD, ...env })
}

/** The same in a process of its own. */
export function startCloudProcess(env: Environment = {}, options?: GatewayProcessOptions): Promise<GatewayProcess> {
  return startGatewayProcess({ ...CLOUD, ...env }, options)
}

/** A session token of a user, good for an hour. */
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

/** A bearer in the form of a header. */
export function bearer(secret: string): { authorization: string } {
  return { authorization: `Bearer ${secret}` }
}

/** Sends a request with a user's session. */
export async function sendAs(userId: string, url: string, options: SendOptions): Promise<Reply> {
  return send(url, { ...options, headers: { ...bearer(await sessionToken(userId)), ...options.headers } })
}

/** A key as it is shown when it is made. */
export interface CreatedKey {
  id: string
  key: string
  prefix: string
  name?: string
  pipelineConfig: string | null
  createdAt: string
}

/** Makes a key for a user. Rejects when the gateway does not. */
export async function createKey(
  { url }: Pick<Gateway, 'url'>,
  userId: string,
  body: JsonObject = {},
): Promise<CreatedKey> {
  const reply = await sendAs(userId, url, { path: '/v1/keys', body })
  if (reply.status !== 201) throw new Error(`The key was not made: ${reply.status} ${reply.text}`)
  return reply.json as unknown as CreatedKey
}
