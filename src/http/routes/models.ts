import type { Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import { suggest } from '../../core/nearest.ts'
import type { RelayCall } from '../../core/ports/provider.ts'
import type { CataloguedModel, ModelCatalogue } from '../../providers/model-catalogue.ts'
import type { Authenticate } from '../authentication.ts'
import { parseListLimit } from '../list-limit.ts'
import type { RequestLimits } from '../rate-limit.ts'
import type { RequestState } from '../request-context.ts'
import { sendCodexModels } from './codex-models.ts'
import { factsOf, type ModelFactSources } from './model-facts.ts'
import { callFor } from './relay.ts'

/** Dependencies of the routes of models. */
export interface ModelListOptions {
  readonly authenticate: Authenticate
  readonly limits: RequestLimits
  /** Returns the models that this caller can use. */
  readonly list: (call: RelayCall) => Promise<CataloguedModel[]>
  /** Returns a model by its name, or all names. */
  readonly find: ModelCatalogue['find']
  readonly facts: ModelFactSources
  /** Output limit of requests without one, in tokens. */
  readonly outputTokens: number
}

const MOST_IN_ONE_LIST = 1000
/** Looking up a thousand models takes a tenth of a second, once. */
const MOST_WITH_FACTS = 1000

/** `GET /v1/models`: lists the models of all providers, in a shape that the SDKs of both dialects read; for Codex in its own. */
export function modelsRoute(options: ModelListOptions): Middleware<RequestState> {
  return async function models(ctx) {
    const { limit, after_id: afterId } = ctx.query
    const most = limit === undefined ? undefined : parseListLimit(String(limit), MOST_IN_ONE_LIST)
    const models = await options.list(await callFor(ctx, options))
    // Only Codex sends its version.
    if (ctx.query.client_version !== undefined)
      return sendCodexModels(ctx, models, { ...options.facts, outputTokens: options.outputTokens })
    const start = afterId === undefined ? 0 : models.findIndex(({ id }) => id === afterId) + 1
    const page = models.slice(start, most === undefined ? undefined : start + most)
    ctx.body = {
      object: 'list',
      data: page.map((model, index) => describe(model, index < MOST_WITH_FACTS ? options.facts : undefined)),
      has_more: start + page.length < models.length,
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    }
  }
}

/** `GET /v1/models/:id`: returns a model; its name may contain a slash. */
export function modelByNameRoute(options: ModelListOptions): Middleware<RequestState> {
  return async function modelByName(ctx) {
    const id = decoded(ctx.path.slice('/v1/models/'.length))
    const found = await options.find(id, await callFor(ctx, options))
    if ('names' in found)
      throw new GatewayError('not_found', `model: there is no \`${id}\`.${suggest(id, found.names)}`)
    ctx.body = describe(found, options.facts)
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name // badly encoded, so no model's name
  }
}

/**
 * Returns the members of Anthropic's shape (`type`, `display_name`, `created_at`), of OpenAI's (the others), the
 * provider's own, and limits and prices.
 */
function describe(model: CataloguedModel, facts: ModelFactSources | undefined) {
  const { id, displayName = id, createdAtMs = 0, ownedBy, fields } = model
  return {
    object: 'model',
    type: 'model',
    display_name: displayName,
    created: Math.floor(createdAtMs / 1000),
    created_at: new Date(createdAtMs).toISOString(),
    owned_by: ownedBy,
    ...(facts === undefined ? fields : factsOf(model, facts)),
    id,
  }
}
