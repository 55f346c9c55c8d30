import { pluginSource } from '../support/plugin-folders.ts'

/** A plugin that keeps every body forever: the leak that the drill must find. */
export const hoarder = pluginSource('hoarder', {
  setup: 'const bodies = []',
  run: 'bodies.push(Buffer.from(exchange.request.bytes)); await next()',
})

/** Returns a plugin that does nothing, of this version. */
export function nudge(version: number): string {
  return pluginSource('nudge', { setup: `void ${version}` })
}
