/**
 * The contract between the gateway and a plugin: the declaration, the services, and what `setup` returns. Plugins import
 * the names that they need from `turnpike/plugin`.
 */
import type { Context, Next } from 'koa'
import type { z } from 'zod'
import type { CapsOf, Prices } from '../core/money/caps.ts'
import type { ByteStores } from '../core/ports/byte-store.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import type { SpendLedger } from '../core/ports/spend-ledger.ts'
import type { TokenCounter } from '../core/ports/token-counter.ts'
import type { Caller } from '../core/request/caller.ts'
import type { Exchange } from './exchange.ts'

/** What a plugin can ask for in `needs`. */
export interface PluginServices {
  /** A log whose lines carry the plugin's name. */
  log: Log
  /** The time. */
  clock: Clock
  /** Bounded byte stores: memory on one machine, Redis when `REDIS_URL` is set. */
  stores: ByteStores
  /** A folder for the plugin alone, under `data_dir`. It is made by whoever first writes into it. */
  folder: string
  /** Addresses of the engines that instances share; with credentials, so never to be logged. */
  engines: SharedEngines
  /** What may be spent, by the operator's configuration and the caller's own key. */
  caps: CapsOf
  /** Holds and counts money, for all instances together. */
  spend: SpendLedger
  /** What models cost. */
  prices: Prices
  /** Counts the tokens of a request without a network. */
  tokens: TokenCounter
  /** Asks models for the plugin itself, under a scope of its own. */
  models: ModelClient
}

/** What a question of a plugin's own goes through. */
export interface ModelQuestion {
  /** Exactly these modules, without the operator's locks: `cost-guard?per_day=1` keeps a cap of the plugin's own. */
  readonly pipeline: string
  /** Ends the question. */
  readonly signal: AbortSignal
}

/** What came of it. */
export interface ModelAnswer {
  /** The reply, parsed: a message in the Messages shape, if the model keeps to it. */
  readonly message: unknown
  readonly costNanoUsd: number
}

/** Asks models at the operator's expense; callers' caps and limits are not touched. */
export interface ModelClient {
  /**
   * Asks with a body of the Messages shape, never as a stream. Throws what a client would be told, as a `GatewayError`:
   * `cost_limit_per_day`, `upstream_error`, …; or the signal's reason.
   */
  ask(body: object, question: ModelQuestion): Promise<ModelAnswer>
}

/** Where instances meet, as far as the operator has configured it. */
export interface SharedEngines {
  readonly redisUrl: string | undefined
  readonly databaseUrl: string | undefined
}

/** A service's name. */
export type ServiceName = keyof PluginServices

/** Koa's context; `ctx.state.exchange` is where modules meet. */
export type PluginContext = Context & { state: { exchange: Exchange } }

/** A Koa middleware. Answer by setting `exchange.reply` (or `ctx.body`), or call `next()` once and await it. */
export type PluginMiddleware = (ctx: PluginContext, next: Next) => Promise<void>

/** A path of the gateway at which a plugin answers. */
export interface PluginRoute {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Under `/v1/`, words in lower case. A path of the gateway's own cannot be had. */
  readonly path: string
}

/** A request to a plugin's route; who sends it has been authenticated and counted. */
export interface RouteCall {
  readonly caller: Caller
  /** Parsed JSON of at most 64 KB for `POST`; check it. */
  readonly body: unknown
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal
}

/** Answers with what is sent as JSON, or throws a `GatewayError`. */
export type RouteHandler = (call: RouteCall) => Promise<object>

/** What `setup` returns: the running plugin. */
export interface PluginInstance<Options> {
  /** Makes the middleware for one distinct set of effective options; not called per request. */
  middleware(effective: Options): PluginMiddleware
  /** What answers at the declared routes, by `<method> <path>`. */
  routes?: Readonly<Record<string, RouteHandler>>
  /** Releases what `setup` took; also called after a `setup` that failed half-way through in a later plugin. */
  close?(): void | Promise<void>
}

/** What a command of a plugin is called with. */
export interface CommandCall<Options> extends Pick<PluginServices, 'log' | 'clock' | 'stores' | 'folder' | 'engines'> {
  /** The operator's. */
  readonly options: Options
  /** Empty for a command that takes none. */
  readonly argument: string
  /** Whether JSON is wanted. */
  readonly json: boolean
  /** Writes to the standard output; a line end is added. */
  print(text: string): void
}

/** A command that a plugin adds to the command line: `turnpike <plugin or commandGroup> <name>`. */
export interface PluginCommand<Options> {
  name: string
  summary: string
  /** The one argument that it must be given, if it takes one. */
  argument?: {
    name: string
    description: string
    /** As it stands in the help’s example, with its quotes. */
    example?: string
  }
  /** Does it; whether all was well. What it throws is told, like a `false`, by exit code 1. */
  run(call: CommandCall<Options>): boolean | Promise<boolean>
}

/** A plugin's declaration. */
export interface PluginDefinition<Schema extends z.ZodType = z.ZodType, Needs extends ServiceName = ServiceName> {
  /** Version of the plugin API that the plugin is written for, a whole number. Default: 1. */
  apiVersion?: number
  /** Equals the folder's name. */
  name: string
  /** One sentence for lists and help. */
  summary: string
  /** A strict zod object; each option described (what, unit, range, default, when to change it). */
  options: Schema
  /** Options that earlier versions had, with what to use in their place: said to whoever still sets them. */
  removedOptions?: Readonly<Record<string, string>>
  /** The only options that a pipeline string may set. */
  perRequest: readonly (keyof z.output<Schema> & string)[]
  /**
   * Those of them that a caller may set even where the operator has locked the module, because whatever is given can only
   * tighten: the plugin itself keeps the operator's value where that is tighter.
   */
  tightening?: readonly (keyof z.output<Schema> & string)[]
  /** Exactly these services are injected. */
  needs: readonly Needs[]
  /** When it throws or hangs before `next()`: `bypass` goes on as if it were not there, `refuse` fails the request. */
  onError: 'bypass' | 'refuse'
  /** Routes at which it answers; they are there while the plugin is in use: once a pipeline has named it. */
  routes?: readonly PluginRoute[]
  /** The word before its commands; default: the plugin's name. */
  commandGroup?: string
  /** Commands for operators. They run without a gateway and without `setup`. */
  commands?: readonly PluginCommand<z.output<Schema>>[]
  setup(
    options: z.output<Schema>,
    services: Pick<PluginServices, Needs>,
  ): PluginInstance<z.output<Schema>> | Promise<PluginInstance<z.output<Schema>>>
}
