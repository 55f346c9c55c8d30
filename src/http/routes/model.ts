import { performance } from 'node:perf_hooks'
import type { Context, Middleware } from 'koa'
import type { Caller } from '../../core/request/caller.ts'
import type { ClientRequest } from '../../core/request/client-request.ts'
import type { Target } from '../../core/request/exchange.ts'
import type { PartialRequest } from '../../core/request/partial-request.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { TAG_HEADER, tagsOf } from '../../core/request/tags.ts'
import type { ClientDialect } from '../../dialects/client-dialect.ts'
import type { Pipelines } from '../../pipeline/pipelines.ts'
import { type AnswerOptions, answer } from '../answer.ts'
import { type Authenticate, authenticateRequest } from '../authentication.ts'
import type { Intakes } from '../body-intake.ts'
import { assertNoSecret } from '../credential.ts'
import { assertModels, assertModules, isCapped } from '../key-limits.ts'
import { limitRequests, type RequestLimits } from '../rate-limit.ts'
import type { RequestState } from '../request-context.ts'
import type { ResponseStates, Resumed } from '../responses/response-states.ts'

/** Input of `modelRoute`. */
export interface ModelRouteOptions extends AnswerOptions {
  readonly authenticate: Authenticate
  readonly limits: RequestLimits
  /** Returns the targets of a model. Throws `invalid_request`. */
  readonly targetsOf: (model: string) => readonly [Target, ...Target[]]
  readonly pipelines: Pipelines
  readonly intakes: Intakes
  /** Resolves what a request continues; unset where requests continue nothing. */
  readonly states?: ResponseStates
}

const MOST_BYTES_READ_AGAIN = 64 * 1024

/** Sends a model request through its pipeline, and the reply to the client. */
export function modelRoute(options: ModelRouteOptions): Middleware<RequestState> {
  const { dialect } = options
  return async function model(ctx) {
    ctx.state.dialect = dialect
    const enteredAtMs = performance.now()
    const partialRequest: PartialRequest = { route: options.route, dialect: dialect.name, headers: ctx.req.headers }
    ctx.state.partialRequest = partialRequest
    const authenticated = await authenticateRequest(ctx.req, { ...options, partialRequest })
    const { caller } = authenticated
    const { scope } = caller
    const rateLimitStatus = await limitRequests(options.limits, caller)
    options.limits.running?.enter(scope, ctx.res)
    const tags = readTags(ctx, caller)
    partialRequest.tags = tags
    const header = pipelineHeader(ctx)
    if (header !== undefined) assertNoSecret(header, 'x-svc-pipe', ctx.req.headers)
    const pipeline = options.pipelines.for(header, authenticated.pipelineConfig, isCapped(caller, tags))
    assertModules(pipeline, caller)
    const bytes = await options.intakes.callers.readJson(ctx.req, { sender: scope })
    const readAtMs = performance.now()
    const client = parseBody(bytes, dialect, partialRequest)
    const { model } = client.document
    partialRequest.model = model
    assertNoSecret(model, 'model', ctx.req.headers)
    const targets = options.targetsOf(model)
    assertModels(client.document, targets, caller)
    const resumed = await resume({ client, targets }, options, caller)
    await answer(ctx, {
      options,
      authenticated,
      pipeline,
      tags,
      ...resumed,
      rateLimitStatus,
      enteredAtMs,
      readAtMs,
    })
  }
}

/** Resolves the response that a request continues, if it names one. */
function resume(request: Resumed, { states }: ModelRouteOptions, caller: Caller): Resumed | Promise<Resumed> {
  const continues = request.client.document.shape.fields.has('previous_response_id')
  return states === undefined || !continues ? request : states.resume(request, caller)
}

/** Returns the tags of a request. Throws `invalid_request`. */
function readTags({ req: { headers } }: Pick<Context, 'req'>, { tags }: Caller): readonly string[] {
  const header = headers[TAG_HEADER]
  if (header !== undefined) assertNoSecret(String(header), TAG_HEADER, headers)
  return tagsOf(headers, tags)
}

/** Returns the pipeline string that the client sent. */
export function pipelineHeader({ req }: Pick<Context, 'req'>): string | undefined {
  const value = req.headers['x-svc-pipe']
  return Array.isArray(value) ? value.join(',') : value
}

/** Parses a body; for a refused one, records its model if that can be read. Throws `invalid_request`. */
export function parseBody(bytes: Buffer, dialect: ClientDialect, partialRequest: PartialRequest): ClientRequest {
  try {
    return dialect.parse(bytes, partialRequest.caller?.scope)
  } catch (error) {
    partialRequest.model = modelIn(bytes)
    throw error
  }
}

/** Returns the model that a small body names. A large body is not parsed a second time. */
function modelIn(bytes: Buffer): string | undefined {
  if (bytes.length > MOST_BYTES_READ_AGAIN) return undefined
  try {
    const model = new RequestDocument(bytes).field('model')
    return typeof model === 'string' ? model : undefined
  } catch {
    return undefined
  }
}
