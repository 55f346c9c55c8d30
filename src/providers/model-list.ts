import { GatewayError } from '../core/errors.ts'
import type { ListedModel } from '../core/ports.ts'
import type { Reply } from '../core/reply.ts'

/** What both shapes of model lists have: Anthropic's `created_at` and `display_name`, OpenAI's `created` and `owned_by`. */
interface RawModel {
  id?: unknown
  display_name?: unknown
  created_at?: unknown
  created?: unknown
  owned_by?: unknown
}

/** Reads a list of models, `{ data: [{ id, … }] }`. Throws `upstream_error` when the reply is none. */
export function readModelList(reply: Reply, provider: string): ListedModel[] {
  const list = reply.kind === 'bytes' && reply.status === 200 ? dataOf(reply.bytes) : undefined
  if (list !== undefined) return list.flatMap(toListedModel)
  reply.cancel()
  throw new GatewayError('upstream_error', `Provider ${provider} answered ${reply.status} and no list of models.`)
}

function dataOf(bytes: Buffer): RawModel[] | undefined {
  try {
    const { data } = JSON.parse(bytes.toString())
    return Array.isArray(data) ? data.filter((model) => typeof model === 'object' && model !== null) : undefined
  } catch {
    return undefined
  }
}

function toListedModel({ id, display_name, created_at, created, owned_by }: RawModel): ListedModel[] {
  if (typeof id !== 'string' || id === '') return []
  const createdAtMs = typeof created === 'number' ? created * 1000 : Date.parse(String(created_at))
  return [
    {
      id,
      displayName: typeof display_name === 'string' ? display_name : undefined,
      createdAtMs: Number.isFinite(createdAtMs) ? createdAtMs : undefined,
      ownedBy: typeof owned_by === 'string' ? owned_by : undefined,
    },
  ]
}
