import { GatewayError } from '../core/errors.ts'
import { isObject, tryParseJson } from '../core/json/json-value.ts'
import type { ListedModel } from '../core/ports/provider.ts'
import type { Reply } from '../core/reply/reply.ts'
import { upstreamErrorParts } from './failed-reply.ts'

/** Members of both shapes of model lists: Anthropic's `created_at` and `display_name`, OpenAI's `created` and `owned_by`. */
interface RawModel {
  id?: unknown
  type?: unknown
  object?: unknown
  display_name?: unknown
  created_at?: unknown
  created?: unknown
  owned_by?: unknown
}

const NOT_FOUND = 404
const MOST_MODELS = 10_000
/** Larger entries keep the known members only. Characters of JSON. */
const LARGEST_ENTRY = 16_384

/** Reads one model; `undefined` when the provider has none of the name. Throws `upstream_error` for another reply. */
export function readModel(reply: Reply, provider: string): ListedModel | undefined {
  const raw = reply.kind === 'bytes' && reply.status === 200 ? parse(reply.bytes) : {}
  const model = isOtherThanModel(raw) ? undefined : toListedModel(raw)[0]
  if (model !== undefined || (reply.status >= 400 && reply.status <= NOT_FOUND)) return model
  reply.cancel()
  throw new GatewayError('upstream_error', `Provider ${provider} answered ${reply.status} and no model.`)
}

/** Returns true for an entry whose `type` or `object` names another kind. */
function isOtherThanModel({ type, object }: RawModel): boolean {
  return (type ?? object ?? 'model') !== 'model'
}

/** Returns the path of one model below that of the list; `undefined` for a name that would escape it. */
export function pathOfModel(id: string): string | undefined {
  const steps = id.split('/')
  if (steps.some((step) => step === '' || step === '.' || step === '..')) return undefined
  return `/models/${steps.map(encodeURIComponent).join('/')}`
}

/** Reads a list of models, `{ data: [{ id, … }] }`. Throws `upstream_error` for another reply. */
export function readModelList(reply: Reply, provider: string): ListedModel[] {
  const list = reply.kind === 'bytes' && reply.status === 200 ? dataOf(reply.bytes) : undefined
  if (list !== undefined) return list.flatMap(toListedModel)
  reply.cancel()
  const parts = upstreamErrorParts(provider, {
    status: reply.status,
    type: null,
    requestId: null,
    retryAfter: undefined,
  })
  throw new GatewayError(
    'upstream_error',
    `Provider ${provider} answered ${reply.status} and no list of models.`,
    parts,
  )
}

function dataOf(bytes: Buffer): RawModel[] | undefined {
  const { data } = parse(bytes) as { data?: unknown }
  return Array.isArray(data)
    ? data.slice(0, MOST_MODELS).filter((model) => typeof model === 'object' && model !== null)
    : undefined
}

function parse(bytes: Buffer): RawModel {
  const parsed = tryParseJson(bytes)
  return isObject(parsed) ? parsed : {}
}

function toListedModel(raw: RawModel): ListedModel[] {
  const { id, display_name, created_at, created, owned_by } = raw
  if (typeof id !== 'string' || id === '') return []
  const createdAtMs = typeof created === 'number' ? created * 1000 : Date.parse(String(created_at))
  return [
    {
      id,
      displayName: typeof display_name === 'string' ? display_name : undefined,
      createdAtMs: Number.isFinite(createdAtMs) ? createdAtMs : undefined,
      ownedBy: typeof owned_by === 'string' ? owned_by : undefined,
      ...fieldsOf(raw),
    },
  ]
}

/** Returns the provider's own entry, unless it is too large to keep. */
export function fieldsOf(raw: object): { fields?: Readonly<Record<string, unknown>> } {
  return JSON.stringify(raw).length > LARGEST_ENTRY ? {} : { fields: { ...raw } }
}
