import type { Context, Middleware, ParameterizedContext } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import type { Provider, RelayCall } from '../../core/ports/provider.ts'
import type { Reply } from '../../core/reply/reply.ts'
import type { Caller } from '../../core/request/caller.ts'
import type { Target } from '../../core/request/exchange.ts'
import type { PartialRequest } from '../../core/request/partial-request.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import type { ClientDialect } from '../../dialects/client-dialect.ts'
import { parseCountTokensRequest } from '../../dialects/messages/parse.ts'
import type { Pipelines, RunnablePipeline } from '../../pipeline/pipelines.ts'
import { type Authenticate, type Authenticated, authenticateRequest } from '../authentication.ts'
import type { Intakes } from '../body-intake.ts'
import { disconnectSignal } from '../client-disconnect.ts'
import { assertNoSecret, forProvider } from '../credential.ts'
import { sendGuarded } from '../guarded-call.ts'
import { assertModels, assertModules, isCapped, isLimited } from '../key-limits.ts'
import { limitRequests, type RequestLimits } from '../rate-limit.ts'
import type { RequestState } from '../request-context.ts'
import { type SendOptions, sendReply } from '../send-reply.ts'
import { pipelineHeader } from './model.ts'

/** Dependencies of relayed routes. */
export interface RelayRouteOptions {
  readonly authenticate: Authenticate
  readonly limits: RequestLimits
  readonly provider: (name: string) => Provider
  /** Dialect of relayed replies. */
  readonly dialect: ClientDialect
  /** Returns the targets of a model. Throws `invalid_request`. */
  readonly targetsOf: (model: string) => readonly [Target, ...Target[]]
  /** The default provider, for requests that name no model. */
  readonly defaultProvider: string
  readonly intakes: Intakes
  readonly pipelines: Pick<Pipelines, 'for'>
  readonly send: SendOptions
}

/**
 * `POST /v1/messages/count_tokens`: forwarded to the model's provider without the pipeline, but for plugins that guard content;
 * free of charge.
 */
export function countTokensRoute(options: RelayRouteOptions): Middleware<RequestState> {
  return async function countTokens(ctx) {
    const { caller, pipeline, ...admitted } = await guardedCallFor(ctx, options)
    const bytes = await options.intakes.callers.readJson(ctx.req, { sender: caller.scope })
    const { document, target } = addressed(bytes, options, caller)
    const call = { ...admitted, credential: forProvider(admitted.credential, target.provider) }
    const count = (body: Buffer) => options.provider(target.provider).countTokens({ ...call, body }, target)
    send(ctx, await sendGuarded(ctx, { pipeline, call, caller, document, target, send: count }), options)
  }
}

/**
 * Relays a route of the default provider that the operator allowed in `providers.allow_routes`, unchanged: no plugin knows its
 * shape, so callers whose pipeline guards content are refused.
 */
export function allowedRoute(options: RelayRouteOptions): Middleware<RequestState> {
  return async function allowed(ctx) {
    assertPlainPath(ctx.path)
    const { caller, pipeline, ...call } = await guardedCallFor(ctx, options)
    assertUnguarded(pipeline)
    if (isLimited(caller))
      throw new GatewayError(
        'permission_error',
        'This key, its owner or its team has limits, which this route would escape.',
      )
    const bytes = await options.intakes.callers.read(ctx.req, { sender: caller.scope })
    const body = bytes.length === 0 ? undefined : bytes
    const { defaultProvider } = options
    const credential = forProvider(call.credential, defaultProvider)
    send(ctx, await options.provider(defaultProvider).relay({ ...call, body, credential }), options)
  }
}

/** Throws `permission_error` for a pipeline that guards content. */
function assertUnguarded({ guards }: Pick<RunnablePipeline, 'guards'>): void {
  if (guards.length === 0) return
  throw new GatewayError(
    'permission_error',
    `Plugin \`${guards[0]}\` guards what leaves, and cannot read bodies of this route.`,
  )
}

/**
 * Path parts that a server may resolve as `..` or as a slash: dots, backslashes, empty segments, and their percent
 * codes.
 */
const CROOKED = /\/\.{1,2}(?:[/;]|$)|\/\/|\\|%(?:00|25|2e|2f|5c)/i

/** Throws `invalid_request` for a path that the provider may read as that of a route which is not allowed. */
function assertPlainPath(path: string): void {
  if (!CROOKED.test(path)) return
  throw new GatewayError('invalid_request', 'The path has steps that lead elsewhere, or slashes or dots in codes.')
}

/** Refuses a route of the provider that would escape caps, pipelines and receipts. */
export const routeNotAllowed: Middleware = function routeNotAllowed({ path }) {
  throw new GatewayError(
    'not_found',
    `${path} is not relayed, because it would escape caps and receipts. The operator can allow it in \`providers.allow_routes\`.`,
  )
}

/** Admits a call without a pipeline. Throws `authentication_error`, `rate_limit_error`. */
export async function callFor(
  ctx: ParameterizedContext<RequestState>,
  options: Pick<RelayRouteOptions, 'authenticate' | 'limits'>,
): Promise<RelayCall & { caller: Caller; pipelineConfig: Authenticated['pipelineConfig'] | undefined }> {
  const partialRequest: PartialRequest = {}
  ctx.state.partialRequest = partialRequest
  const authenticated = await authenticateRequest(ctx.req, { ...options, partialRequest })
  ctx.set({ ...(await limitRequests(options.limits, authenticated.caller)) })
  options.limits.running?.enter(authenticated.caller.scope, ctx.res)
  const { credential, caller, pipelineConfig } = authenticated
  const signal = disconnectSignal(ctx.res)
  // Safe: the router admits only these methods.
  const method = ctx.method as RelayCall['method']
  return {
    caller,
    pipelineConfig,
    scope: caller.scope,
    method,
    path: ctx.path,
    query: ctx.search,
    headers: ctx.req.headers,
    body: undefined,
    credential,
    requestId: ctx.state.requestId,
    signal,
    hidesAccountLimits: true,
  }
}

/** Admits a call, with the pipeline that a request of its caller to a model would pass. Throws like `callFor`, `invalid_request`. */
async function guardedCallFor(
  ctx: ParameterizedContext<RequestState>,
  options: RelayRouteOptions,
): Promise<RelayCall & { caller: Caller; pipeline: RunnablePipeline }> {
  const { pipelineConfig, ...call } = await callFor(ctx, options)
  const header = pipelineHeader(ctx)
  if (header !== undefined) assertNoSecret(header, 'x-svc-pipe', ctx.req.headers)
  const pipeline = options.pipelines.for(header, pipelineConfig, isCapped(call.caller))
  assertModules(pipeline, call.caller)
  return { ...call, pipeline }
}

/** Relayed bytes are in no dialect: they are sent unchanged. */
function send(ctx: Context, reply: Reply, options: RelayRouteOptions): void {
  ctx.respond = false
  const headers = { 'request-id': ctx.state.requestId }
  sendReply(ctx.res, reply, { ...options.send, headers, dialect: options.dialect })
}

/** Returns the target of a body's model, and the request with the provider's model name. */
function addressed(
  bytes: Buffer,
  { targetsOf }: RelayRouteOptions,
  caller: Caller,
): { document: RequestDocument; target: Target } {
  const asked = parseCountTokensRequest(bytes)
  const { model } = asked
  const targets = targetsOf(model)
  assertModels(asked, targets, caller)
  const [target] = targets
  const document =
    target.model === model ? asked : asked.edited([{ op: 'replace', path: ['model'], value: target.model }])
  return { document, target }
}
