import type { Context } from 'koa'
import type { Exchange } from '../core/request/exchange.ts'

/** The context of a request in its pipeline; plugins see the members of the exchange that `PluginContext` declares. */
export type PipelineContext = Context & { state: { exchange: Exchange } }
