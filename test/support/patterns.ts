import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import plugin from '../../plugins/patterns/index.ts'
import type { Log } from '../../src/core/ports/log.ts'
import type { StepTrace } from '../../src/core/telemetry/traces.ts'
import type { PluginContext, PluginMiddleware } from '../../src/plugin/contract.ts'
import { openExchange } from './exchange.ts'
import { createPluginServices } from './plugin-services.ts'
import { createRecordingLog } from './recording-log.ts'

/** A request as the plugin receives it. */
export interface PatternsRequest {
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  readonly dialect?: 'messages' | 'chat'
  readonly model?: string
}

/** Result of the plugin. */
export interface PatternsResult {
  /** The canonical request after the plugin. */
  readonly sent: Buffer
  /** The reply's header, if it was set. */
  readonly header: string | undefined
  readonly trace: StepTrace
}

/** The plugin over a folder of patterns, without a server. */
export interface PatternsModule {
  run(request: PatternsRequest): Promise<PatternsResult>
  close(): void
}

/** Sets the plugin up. `options` are those of the configuration. */
export async function openPatterns(
  options: Readonly<Record<string, unknown>>,
  { log = createRecordingLog(), perRequest = {} }: { log?: Log; perRequest?: Readonly<Record<string, unknown>> } = {},
): Promise<PatternsModule> {
  const configured = { watch: false, ...options }
  const instance = await plugin.setup(plugin.options.parse(configured), createPluginServices(log))
  const middleware = instance.middleware(plugin.options.parse({ ...configured, ...perRequest }))
  return { run: (request) => run(middleware, request), close: () => void instance.close?.() }
}

async function run(middleware: PluginMiddleware, request: PatternsRequest): Promise<PatternsResult> {
  const { body, headers = {}, dialect = 'messages', model = 'claude-sonnet-4-5' } = request
  const trace: StepTrace = { module: 'patterns', action: 'ran', durationMs: 0 }
  const exchange = openExchange({ body, headers, dialect, targets: [{ provider: 'anthropic', model }] }).forStep(trace)
  let header: string | undefined
  const ctx = {
    state: { exchange },
    set: (_: string, value: string) => {
      header = value
    },
  }
  // Safe: the plugin uses nothing else of the context.
  await middleware(ctx as unknown as PluginContext, async () => {})
  return { sent: exchange.request.bytes, header, trace }
}

/** Writes patterns as files: `name/PATTERN.md` and their text. */
export function writePatterns(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    const target = path.join(directory, file)
    mkdirSync(path.dirname(target), { recursive: true })
    writeFileSync(target, text)
  }
}
