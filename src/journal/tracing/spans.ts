import { type Attributes, type HrTime, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import type { FinishedRequest } from '../../core/telemetry/telemetry.ts'
import { spanIdOf, type TraceContext } from '../../core/telemetry/trace-context.ts'

/** Properties common to all spans of a process. */
export type SpanOrigin = Pick<ReadableSpan, 'resource' | 'instrumentationScope'>

const MS_PER_SECOND = 1000
const NS_PER_MS = 1e6
const FIRST_SERVER_ERROR = 500
const PATHS = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  agent: '/v1/agent/messages',
} as const
/** Provider names of the semantic conventions, where they differ from the gateway's. */
const PROVIDERS: Readonly<Record<string, string>> = {
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
}

/**
 * Returns the spans of a request: one of the gateway, with an event for each plugin, and, if a provider was called, one of
 * that call (OpenTelemetry semantic conventions for HTTP and for generative AI). They contain no text of prompts and answers.
 */
export function spansOf(request: FinishedRequest, context: TraceContext, origin: SpanOrigin): ReadableSpan[] {
  const server = serverSpan(request, context, origin)
  return request.providerMs === null ? [server] : [server, providerSpan(request, context, origin)]
}

function serverSpan(request: FinishedRequest, context: TraceContext, origin: SpanOrigin): ReadableSpan {
  const { startedAtMs, totalMs, status, outcome, route, trace } = request
  const isFault = outcome === 'incomplete' || (status ?? 0) >= FIRST_SERVER_ERROR
  return {
    ...origin,
    ...span({
      name: `POST ${PATHS[route]}`,
      kind: SpanKind.SERVER,
      ids: { context, id: spanIdOf(request.requestId, 'server'), parentId: context.parentId },
      startMs: startedAtMs,
      endMs: startedAtMs + totalMs,
      attributes: {
        'http.request.method': 'POST',
        'http.route': PATHS[route],
        ...given('http.response.status_code', status),
        'turnpike.request_id': request.requestId,
        ...given('gen_ai.conversation.id', request.conversation?.id),
        ...given('turnpike.conversation.turn', request.conversation?.turn),
        ...given('turnpike.team_id', request.teamId),
        ...(request.tags.length > 0 && { 'turnpike.tags': [...request.tags] }),
        ...given('turnpike.receipt_id', request.hasReceipt ? request.id : null),
        'turnpike.pipeline': request.pipeline,
        'turnpike.cache': request.cache,
        'turnpike.outcome': outcome,
        'turnpike.gateway_ms': request.gatewayMs,
        ...given('turnpike.cost_nano_usd', request.costNanoUsd),
        ...given('turnpike.counterfactual_nano_usd', request.counterfactualNanoUsd),
      },
      errorType: isFault ? (status === null ? outcome : String(status)) : undefined,
    }),
    events: trace.steps.map(({ module, action, ms }) => ({
      name: `turnpike.module.${module}`,
      time: hrTime(startedAtMs),
      attributes: { 'turnpike.action': action, 'turnpike.ms': ms },
    })),
  }
}

/** Returns the provider's span: it begins after the gateway’s own share, and ends with the reply, for a stream with its end. */
function providerSpan(request: FinishedRequest, context: TraceContext, origin: SpanOrigin): ReadableSpan {
  const { startedAtMs, gatewayMs, providerMs, totalMs, isStream, tokens, provider, trace, requestId, conversation } =
    request
  const startMs = startedAtMs + Math.max(0, gatewayMs)
  const endMs = isStream ? startedAtMs + totalMs : startMs + (providerMs ?? 0)
  const call = trace.calls.at(-1)
  const name = provider ?? call?.provider ?? ''
  return {
    ...origin,
    ...span({
      name: `chat ${request.modelAsked}`,
      kind: SpanKind.CLIENT,
      ids: { context, id: spanIdOf(requestId, 'provider'), parentId: spanIdOf(requestId, 'server') },
      startMs,
      endMs: Math.max(startMs, endMs),
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': PROVIDERS[name] ?? name,
        ...given('gen_ai.conversation.id', conversation?.id),
        'gen_ai.request.model': request.modelAsked,
        ...given('gen_ai.response.model', request.modelServed),
        ...given('gen_ai.usage.input_tokens', tokens && tokens.input + tokens.cacheRead + tokens.cacheWrite),
        ...given('gen_ai.usage.output_tokens', tokens?.output),
        ...given('gen_ai.usage.cache_read.input_tokens', tokens?.cacheRead),
        ...given('gen_ai.usage.cache_creation.input_tokens', tokens?.cacheWrite),
        ...(request.stopReason !== null && { 'gen_ai.response.finish_reasons': [request.stopReason] }),
        'turnpike.calls': trace.calls.length,
      },
      errorType: call?.outcome === 'failed' ? String(call.status ?? 'no_answer') : undefined,
    }),
  }
}

interface SpanParts {
  readonly name: string
  readonly kind: SpanKind
  readonly ids: { readonly context: TraceContext; readonly id: string; readonly parentId: string | undefined }
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Attributes
  readonly errorType: string | undefined
}

function span({ name, kind, ids, startMs, endMs, attributes, errorType }: SpanParts) {
  const { context, id, parentId } = ids
  const contextOf = (spanId: string) => ({ traceId: context.traceId, spanId, traceFlags: TraceFlags.SAMPLED })
  return {
    name,
    kind,
    spanContext: () => contextOf(id),
    ...(parentId !== undefined && {
      parentSpanContext: { ...contextOf(parentId), isRemote: kind === SpanKind.SERVER },
    }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(endMs - startMs),
    ended: true,
    status: { code: errorType === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
    attributes: errorType === undefined ? attributes : { ...attributes, 'error.type': errorType },
    links: [],
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

function given(name: string, value: string | number | null | undefined): Attributes {
  return value === null || value === undefined ? {} : { [name]: value }
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / MS_PER_SECOND)
  return [seconds, Math.round((ms - seconds * MS_PER_SECOND) * NS_PER_MS)]
}
