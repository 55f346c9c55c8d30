import { setTimeout as sleep } from 'node:timers/promises'
import { DiagLogLevel, diag } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Log } from '../../core/ports/log.ts'
import type { FinishedRequest } from '../../core/telemetry/telemetry.ts'
import { traceContextOf } from '../../core/telemetry/trace-context.ts'
import { spansOf } from './spans.ts'

/** Sends traces of requests to a collector. */
export interface Tracer {
  /** Records a request; it is sent in the background, or dropped when the collector is unreachable. Never throws. */
  record(request: FinishedRequest, headers: NodeJS.Dict<string | string[]>): void
  /** Sends waiting spans, for at most two seconds. */
  close(): Promise<void>
}

/** Options of a tracer. */
export interface TracerOptions {
  /** The collector’s address; `/v1/traces` is added. */
  readonly endpoint: string
  /** Headers of each batch, for the collector’s own credentials. */
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string
  readonly version: string
  readonly log: Log
}

const LONGEST_EXPORT_MS = 10_000
/** An unreachable collector is retried for longer; the end of the process must not wait for it. */
const LONGEST_CLOSE_MS = 2000

/** Opens a tracer that speaks OTLP over HTTP. */
export function openTracer({ endpoint, headers, serviceName, version, log }: TracerOptions): Tracer {
  const warn = (reason: string): void => log.warn({ reason }, 'traces.not-sent')
  // The library's own message about an unreachable collector.
  const quiet = () => {}
  diag.setLogger(
    { error: warn, warn, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: LONGEST_EXPORT_MS })
  const processor = new BatchSpanProcessor(exporter)
  const origin = {
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    instrumentationScope: { name: 'turnpike', version },
  }
  return {
    record(request, requestHeaders) {
      const context = traceContextOf(request.requestId, requestHeaders)
      if (!context.isSampled) return
      for (const span of spansOf(request, context, origin)) processor.onEnd(span)
    },
    async close() {
      const sent = processor.shutdown().catch(() => {})
      await Promise.race([sent, sleep(LONGEST_CLOSE_MS, undefined, { ref: false })])
    },
  }
}
