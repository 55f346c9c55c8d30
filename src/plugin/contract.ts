/**
 * The contract between the gateway and a plugin: the declaration, the services, and what `setup` returns. Plugins import
 * the names that they need from `turnpike/plugin`.
 */
import type { Context, Next } from 'koa'
import type { z } from 'zod'
import type { CapsOf } from '../core/money/caps.ts'
import type { Prices } from '../core/money/prices.ts'
import type { ByteStores } from '../core/ports/byte-store.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import type { SpendLedger } from '../core/ports/spend-ledger.ts'
import type { TokenCounter } from '../core/ports/token-counter.ts'
import type { Caller } from '../core/request/caller.ts'
import type { Exchange } from './exchange.ts'

/** The services that a plugin can list in `needs`. */
export interface PluginServices {
  /** A log whose lines carry the plugin's name. */
  log: Log
  /** The time, in milliseconds since 1970. */
  clock: Clock
  /** Bounded byte stores: memory on one machine, Redis when `REDIS_URL` is set. */
  stores: ByteStores
  /** Path of a folder for this plugin, under `data_dir`. Create it before the first write. */
  folder: string
  /** Addresses of the engines that instances share. They contain credentials: never log them. */
  engines: SharedEngines
  /** Returns a caller's caps, from the operator's configuration and the caller's key. */
  caps: CapsOf
  /** Reserves and counts money, for all instances together. */
  spend: SpendLedger
  /** Prices of models. */
  prices: Prices
  /** Counts the tokens of a request, without network access. */
  tokens: TokenCounter
  /** Calls models for the plugin itself, as the caller `plugin:<name>`. */
  models: ModelClient
  /**
   * Runs work that no reply waits for about 10 ms later, with that of other requests, for half of what it costs at once; in any
   * case before the plugin is closed. Work that throws is logged. `bytes`: size of the bodies that it keeps in memory.
   */
  later: (work: () => void, bytes?: number) => void
  /**
   * Derives a key of 32 bytes for one purpose of the plugin. Instances with the same key of receipts derive the same; it
   * changes with that key. Never log it.
   */
  deriveKey: (purpose: string) => Buffer
}

/** Pipeline and signal of a plugin's own model call. */
export interface ModelQuestion {
  /** Runs exactly these plugins, without the operator's locks: `cost-guard?per_day=1` sets a cap for the plugin. */
  readonly pipeline: string
  /** Cancels the call. */
  readonly signal: AbortSignal
}

/** Result of a plugin's own model call. */
export interface ModelAnswer {
  /** The parsed JSON reply, usually a message in the Messages shape; check it. */
  readonly message: unknown
  readonly costNanoUsd: number
}

/** Calls models at the operator's expense; callers' caps and limits do not apply. */
export interface ModelClient {
  /**
   * Sends a body in the Messages shape, never as a stream. Throws the `GatewayError` that a client would receive
   * (`cost_limit_per_day`, `upstream_error`, …), or the signal's reason.
   */
  ask(body: object, question: ModelQuestion): Promise<ModelAnswer>
}

/** Addresses of the engines that instances share; `undefined` for those that are not configured. */
export interface SharedEngines {
  readonly redisUrl: string | undefined
  readonly databaseUrl: string | undefined
}

/** A service's name. */
export type ServiceName = keyof PluginServices

/** Koa's context; `ctx.state.exchange` is the request and its reply. */
export type PluginContext = Context & { state: { exchange: Exchange } }

/** A Koa middleware. Answer by setting `exchange.reply` (or `ctx.body`), or call `next()` once and await it. */
export type PluginMiddleware = (ctx: PluginContext, next: Next) => Promise<void>

/** A path that a plugin serves. */
export interface PluginRoute {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below `/v1/`, lower-case words; none of the gateway's own paths. */
  readonly path: string
}

/** A request to a plugin's route, authenticated and counted against the rate limit. */
export interface RouteCall {
  readonly caller: Caller
  /** Parsed JSON of at most 128 KB for `POST`; check it. */
  readonly body: unknown
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** Returns the object that is sent as JSON, or throws a `GatewayError`. */
export type RouteHandler = (call: RouteCall) => Promise<object>

/** A running plugin, as `setup` returns it. */
export interface PluginInstance<Options> {
  /** Creates the middleware for one distinct set of effective options; not called per request. */
  middleware(effective: Options): PluginMiddleware
  /** Handlers of the declared routes, by `<method> <path>`. */
  routes?: Readonly<Record<string, RouteHandler>>
  /** Releases the resources of `setup`; also called when the set-up of a later plugin fails. */
  close?(): void | Promise<void>
}

/** Arguments and services of a plugin's command. */
export interface CommandCall<Options> extends Pick<PluginServices, 'log' | 'clock' | 'stores' | 'folder' | 'engines'> {
  /** The operator's options. */
  readonly options: Options
  /** The command's argument; empty if it takes none. */
  readonly argument: string
  /** True with `--json`. */
  readonly json: boolean
  /** Writes a line to standard output. */
  print(text: string): void
}

/** A command that a plugin adds to the command line: `turnpike <plugin or commandGroup> <name>`. */
export interface PluginCommand<Options> {
  name: string
  summary: string
  /** The required argument, for a command that takes one. */
  argument?: {
    name: string
    description: string
    /** The argument in the help's example, with its quotes. */
    example?: string
  }
  /** Runs the command. Returns false, or throws, for exit code 1. */
  run(call: CommandCall<Options>): boolean | Promise<boolean>
}

/** A plugin's declaration. */
export interface PluginDefinition<Schema extends z.ZodType = z.ZodType, Needs extends ServiceName = ServiceName> {
  /** Version of the plugin API that the plugin is written for, a whole number. Default: 1. */
  apiVersion?: number
  /** The folder's name. */
  name: string
  /** One sentence for lists and help. */
  summary: string
  /** A strict zod object; `.describe()` of each option gives purpose, unit, range, default and when to change it. */
  options: Schema
  /** Options of earlier versions, each with its replacement, for the error message when one is still set. */
  removedOptions?: Readonly<Record<string, string>>
  /** The options that callers may set in a pipeline string. */
  perRequest: readonly (keyof z.output<Schema> & string)[]
  /**
   * Those of `perRequest` that callers may set even if the operator has locked the plugin. The plugin must keep the
   * operator's value where that is tighter.
   */
  tightening?: readonly (keyof z.output<Schema> & string)[]
  /**
   * True for a plugin without which no content may leave. Where a pipeline has it, token counts pass it too, and routes of
   * `providers.allow_routes` refuse; where the operator has locked it, it runs before all plugins that a caller names.
   */
  guardsContent?: boolean
  /** The services passed to `setup`, exactly these. */
  needs: readonly Needs[]
  /** On failure: `bypass` continues the request without the plugin, `refuse` fails it with 503. */
  onError: 'bypass' | 'refuse'
  /** Routes that it serves from the moment when a pipeline first names the plugin. */
  routes?: readonly PluginRoute[]
  /** First word of its commands. Default: the plugin's name. */
  commandGroup?: string
  /** Commands for operators, which run without a gateway and without `setup`. */
  commands?: readonly PluginCommand<z.output<Schema>>[]
  setup(
    options: z.output<Schema>,
    services: Pick<PluginServices, Needs>,
  ): PluginInstance<z.output<Schema>> | Promise<PluginInstance<z.output<Schema>>>
}
