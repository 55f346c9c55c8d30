import compress from '../../plugins/compress/index.ts'
import type { PluginMiddleware } from '../../src/plugin/contract.ts'

/** A way to treat sessions: the modules they go through, new ones for each session. */
export interface Policy {
  readonly name: string
  readonly createSteps: () => Promise<PluginMiddleware[]>
}

/** Nothing is done. */
export const NONE: Policy = { name: 'none', createSteps: async () => [] }

/** Stage A of compress, as the module does by itself. */
export const STAGE_A: Policy = { name: 'stage A', createSteps: () => createCompress({}) }

/** Both stages for a window that is far smaller than the sessions. */
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
