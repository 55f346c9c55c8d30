import type { Middleware } from 'koa'
import type { Provider } from '../../core/ports/provider.ts'

/**
 * `GET /health` (specification, 2.6): reports the version, the start time, and the providers with a credential. Makes
 * no calls.
 */
export function healthRoute({
  build,
  startedAtMs,
  providers,
}: {
  build: string
  startedAtMs: number
  providers: () => readonly Provider[]
}): Middleware {
  return function health(ctx) {
    const real = providers().filter(({ name }) => name !== 'demo')
    ctx.body = {
      status: 'ok',
      version: build,
      uptime: process.uptime(),
      startedAt: startedAtMs,
      providers: Object.fromEntries(real.map(({ name, configured }) => [name, configured])),
    }
  }
}
