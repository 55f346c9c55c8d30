import type { Context, Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import type { Target } from '../../core/exchange.ts'
import type { PresentedCredential, Provider, RelayCall } from '../../core/ports.ts'
import { RequestDocument } from '../../core/request.ts'
import type { Authenticate } from '../authenticate.ts'
import { readBody, readJsonBody } from '../body.ts'
import type { FrameState } from '../frame.ts'
import { leavingSignal } from '../leaving.ts'
import { type SendOptions, sendReply } from '../send-reply.ts'

/** What relayed routes are made from. */
export interface RelayRouteOptions {
  readonly authenticate: Authenticate
  readonly provider: (name: string) => Provider
  readonly selectTarget: (model: string) => Target
  /** Lists models for a caller with this credential. */
  readonly listingProvider: (credential: PresentedCredential) => Provider
  /** Answers what names no model. */
  readonly defaultProvider: string
  readonly bodyLimitBytes: number
  readonly send: SendOptions
}

/** `POST /v1/messages/count_tokens`: relayed to the model's provider, past the pipeline; it costs nothing. */
export function countTokensRoute(options: RelayRouteOptions): Middleware<FrameState> {
  return async function countTokens(ctx) {
    const call = callFor(ctx, options)
    const bytes = await readJsonBody(ctx.req, options.bodyLimitBytes)
    const { body, provider } = addressedTo(bytes, options)
    await relay(ctx, { call: { ...call, body }, provider, send: options.send })
  }
}

/** `GET /v1/models`: the list of the provider that would answer this caller. */
export function modelsRoute(options: RelayRouteOptions): Middleware<FrameState> {
  return async function models(ctx) {
    const call = callFor(ctx, options)
    await relay(ctx, { call, provider: options.listingProvider(call.credential), send: options.send })
  }
}

/** A route of the default provider that the operator allowed in `providers.allow_routes`: relayed as it is. */
export function allowedRoute(options: RelayRouteOptions): Middleware<FrameState> {
  return async function allowed(ctx) {
    const call = callFor(ctx, options)
    const bytes = await readBody(ctx.req, options.bodyLimitBytes)
    const body = bytes.length === 0 ? undefined : bytes
    await relay(ctx, {
      call: { ...call, body },
      provider: options.provider(options.defaultProvider),
      send: options.send,
    })
  }
}

/** A route of the provider that would escape caps, pipelines and receipts. */
export const routeNotAllowed: Middleware = function routeNotAllowed({ path }) {
  throw new GatewayError(
    'not_found',
    `${path} is not relayed, because it would escape caps and receipts. The operator can allow it in \`providers.allow_routes\`.`,
  )
}

/** Throws `authentication_error`. */
function callFor(ctx: Context, { authenticate }: RelayRouteOptions): RelayCall {
  const { credential } = authenticate(ctx.req.headers)
  const signal = leavingSignal(ctx.res)
  // The router lets these methods through only.
  const method = ctx.method as RelayCall['method']
  return {
    method,
    path: ctx.path,
    query: ctx.search,
    headers: ctx.req.headers,
    body: undefined,
    credential,
    requestId: ctx.state.requestId,
    signal,
  }
}

interface Relaying {
  call: RelayCall
  provider: Provider
  send: SendOptions
}

async function relay(ctx: Context, { call, provider, send }: Relaying): Promise<void> {
  const reply = await provider.relay(call)
  ctx.respond = false
  sendReply(ctx.res, reply, { ...send, headers: { 'request-id': ctx.state.requestId } })
}

/** Finds the provider of a body's model, and takes the gateway's own prefix out of it. */
function addressedTo(
  bytes: Buffer,
  { selectTarget, provider }: RelayRouteOptions,
): { body: Buffer; provider: Provider } {
  const document = new RequestDocument(bytes)
  const model = readModel(document)
  const target = selectTarget(model)
  const body =
    target.model === model ? bytes : document.edited([{ op: 'replace', path: ['model'], value: target.model }]).bytes
  return { body, provider: provider(target.provider) }
}

function readModel(document: RequestDocument): string {
  let model: unknown
  try {
    model = document.field('model')
  } catch (cause) {
    throw new GatewayError('invalid_request', 'The body is not a valid JSON object.', { cause })
  }
  if (typeof model === 'string' && model !== '') return model
  throw new GatewayError('invalid_request', 'model: expected the name of a model.')
}
