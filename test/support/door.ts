import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { eventually } from './eventually.ts'
import { type Gateway, startGateway } from './gateway.ts'
import type { Reply, SendOptions } from './http-client.ts'
import { isJsonObject, type JsonObject, parseJson } from './json.ts'
import type { ProviderScenario } from './provider-fixture.ts'

/** The public routes of models. */
export const ROUTES = { messages: '/v1/messages', chat: '/v1/chat/completions' } as const

/** Body of a request: an object or its exact text. */
type Body = NonNullable<SendOptions['body']>

/** Sends a chat completion request to a scenario. */
export function sendChat(
  scenario: ProviderScenario,
  body: Body,
  options: Omit<SendOptions, 'body'> = {},
): Promise<Reply> {
  return scenario.send({ path: ROUTES.chat, ...options, body })
}

/** Returns the gateway's log line about the request that had this reply. */
export async function logLineOf(gateway: Gateway, { headers }: Pick<Reply, 'headers'>): Promise<JsonObject> {
  const id = headers['request-id']
  const find = () =>
    linesOf(gateway).find(
      ({ msg, requestId, providerRequestId }) =>
        String(msg).startsWith('request.') && (requestId === id || providerRequestId === id),
    )
  await eventually(() => find() !== undefined, `a log line about ${id}`)
  return find() ?? {}
}

/** Parses the lines of a gateway's log that are JSON. */
export function linesOf(gateway: Gateway): JsonObject[] {
  return gateway
    .log()
    .split('\n')
    .map(parseJson)
    .filter((line) => isJsonObject(line))
}

/** Returns the output of a gateway that must not start with this configuration. Rejects when it starts. */
export async function refusalOfStart(config: JsonObject, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-config-'))
  const file = path.join(folder, 'turnpike.yaml')
  try {
    await writeFile(file, JSON.stringify(config)) // JSON is YAML
    const gateway = await startGateway({ SVC_CONFIG: file, ...env }).catch((error: Error) => error)
    if (gateway instanceof Error) return gateway.message
    await gateway.stop()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  throw new Error('Expected the gateway not to start')
}
