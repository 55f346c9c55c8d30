import { pluginSource } from '../support/plugin-folders.ts'

/** A module that keeps every body for ever: what the drill must find. */
export const hoarder = pluginSource('hoarder', {
  setup: 'const bodies = []',
  run: 'bodies.push(Buffer.from(exchange.request.bytes)); await next()',
})

/** A module that does nothing, of this version. */
export function nudge(version: number): string {
  return pluginSource('nudge', { setup: `void ${version}` })
}
