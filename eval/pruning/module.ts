import plugin from '../../plugins/prune-tools/index.ts'
import type { PluginContext } from '../../src/plugin/contract.ts'
import { openExchange } from '../../test/support/exchange.ts'
import type { WireTool } from './data.ts'

/** Message as it is sent. */
export interface WireMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string | readonly object[]
}

/** Request, as far as the plugin reads it. */
export interface WireRequest {
  readonly tools: readonly WireTool[]
  readonly messages: readonly WireMessage[]
}

/** Result of the plugin. */
export interface Pruned {
  readonly tools: readonly WireTool[]
  /** Action in its trace: `pruned`, or `idle`. */
  readonly action: string
  /** Time of the plugin alone. */
  readonly milliseconds: number
}

const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }

/** Creates the plugin as operators get it, in `mode`; all other options are defaults. */
export function createModule(mode: 'slim' | 'drop'): (request: WireRequest) => Promise<Pruned> {
  const options = plugin.options.parse({ mode })
  const instance = plugin.setup(options, { log })
  return async ({ tools, messages }) => {
    const body = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 1000, tools, messages })
    const step = { module: plugin.name, action: 'ran', durationMs: 0 }
    const target = { provider: 'anthropic', model: 'claude-sonnet-4-5' }
    const exchange = openExchange({ body, dialect: 'messages', targets: [target] }).forStep(step)
    // The plugin uses no more of the context than this.
    const context = { state: { exchange }, set() {} } as unknown as PluginContext
    const middleware = (await instance).middleware(options)
    const startMs = performance.now()
    await middleware(context, async () => {})
    const milliseconds = performance.now() - startMs
    return { tools: exchange.request.field('tools') as WireTool[], action: step.action, milliseconds }
  }
}
