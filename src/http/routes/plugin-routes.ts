import type { Context, Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import type { LoadedPlugin, PluginRegistry } from '../../pipeline/registry.ts'
import { type Authenticate, authenticateRequest } from '../authentication.ts'
import type { BodyIntake } from '../body-intake.ts'
import { disconnectSignal } from '../client-disconnect.ts'
import { readControlBody } from '../control-body.ts'
import { limitRequests, type RequestLimits } from '../rate-limit.ts'
import type { RequestState } from '../request-context.ts'

/** Dependencies of the routes of plugins. */
export interface PluginRoutesOptions {
  readonly authenticate: Authenticate
  readonly limits: RequestLimits
  readonly intake: BodyIntake
  readonly registry: Pick<PluginRegistry, 'routesAt'>
}

/**
 * Serves routes that plugins have declared: looked up for each request, since plugins change at run time, and after all
 * of the gateway's own, so that none is replaced. Authentication and rate limits are those of the model routes.
 */
export function pluginRoutes(options: PluginRoutesOptions): Middleware<RequestState> {
  return async function pluginRoute(ctx, next) {
    const found = options.registry.routesAt(ctx.path)
    if (found.length === 0) return next()
    const here = found.find(({ method }) => method === ctx.method)
    if (here === undefined) throw wrongMethod(ctx, found.map(({ method }) => method).join(', '))
    const authenticated = await authenticateRequest(ctx.req, options)
    ctx.set({ ...(await limitRequests(options.limits, authenticated.caller)), 'cache-control': 'no-store' })
    const from = { intake: options.intake, sender: authenticated.caller.scope }
    const body = here.method === 'POST' ? await readControlBody(ctx.req, from) : undefined
    const call = { caller: authenticated.caller, body, signal: disconnectSignal(ctx.res) }
    ctx.body = await inside(here.plugin, () => here.handle(call))
  }
}

function wrongMethod(ctx: Context, allow: string): GatewayError {
  return new GatewayError('method_not_allowed', `${ctx.path} takes ${allow}, got ${ctx.method}.`, {
    headers: { allow },
  })
}

/** Keeps the plugin open until its handler has returned. */
async function inside<T>(plugin: LoadedPlugin, work: () => Promise<T>): Promise<T> {
  plugin.enter()
  try {
    return await work()
  } finally {
    plugin.leave()
  }
}
