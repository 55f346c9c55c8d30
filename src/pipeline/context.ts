import type { Context } from 'koa'
import type { Exchange } from '../core/request/exchange.ts'

/** The context of a request in its pipeline; modules see of the exchange what `PluginContext` declares. */
export type PipelineContext = Context & { state: { exchange: Exchange } }
