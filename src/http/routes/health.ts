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
  providers: readonly Provider[]
}): Middleware {
  const configured = Object.fromEntries(
    providers.filter(({ name }) => name !== 'demo').map(({ name, configured }) => [name, configured]),
  )
  return function health(ctx) {
    ctx.body = {
      status: 'ok',
      version: build,
      uptime: process.uptime(),
      startedAt: startedAtMs,
      providers: configured,
    }
  }
}
