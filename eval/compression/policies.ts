import compress from '../../plugins/compress/index.ts'
import type { PluginMiddleware } from '../../src/plugin/contract.ts'

/** Treatment of sessions: the plugins they pass through, new instances for each session. */
export interface Policy {
  readonly name: string
  readonly createSteps: () => Promise<PluginMiddleware[]>
}

/** No treatment. */
export const NONE: Policy = { name: 'none', createSteps: async () => [] }

/** Stage A of compress, its default. */
export const STAGE_A: Policy = { name: 'stage A', createSteps: () => createCompress({}) }

/** Both stages, for a window far smaller than the sessions. */
export const STAGE_B: Policy = {
  name: 'stage B',
  createSteps: () =>
    createCompress({
      elide: 'pressure',
      max_context: 17_000,
      step: 16_000,
      keep: 4_000,
      elide_tools: ['*'],
    }),
}

async function createCompress(given: Readonly<Record<string, unknown>>): Promise<PluginMiddleware[]> {
  const options = compress.options.parse(given)
  const instance = await compress.setup(options, { clock: { nowMs: () => 0 } })
  return [instance.middleware(options)]
}
