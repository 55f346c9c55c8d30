/**
 * The entry point `turnpike/plugin`: the declaration of a plugin, the exchange, errors and units.
 *
 * A plugin is a folder with an `index.ts` (or `.js`, `.mjs`) whose default export is `definePlugin({…})`. It lists the
 * services that it needs in `needs`; `setup` receives exactly those. Caches import `turnpike/plugin/cache` as well, modules
 * that count money `turnpike/plugin/spend`, modules that read or make raw bytes `turnpike/plugin/bytes`, and tests
 * `turnpike/plugin/test`.
 */
export { z } from 'zod'
export { abortable, onAbort } from './core/abortable.ts'
export { GatewayError } from './core/errors.ts'
export type { Edit } from './core/json/splice.ts'
export { suggest } from './core/nearest.ts'
export type { Clock } from './core/ports/clock.ts'
export type { Log } from './core/ports/log.ts'
export { jsonReply, type Reply } from './core/reply/reply.ts'
export type { Usage } from './core/reply/usage.ts'
export type { Target } from './core/request/exchange.ts'
export { type ContentBlock, explain, type Message, type Tool } from './core/request/message.ts'
export { RequestDocument } from './core/request/request.ts'
export type { MapEvent, ReplyEvent } from './core/rewrite/event-rewriter.ts'
export { replaceText } from './core/rewrite/replace-text.ts'
export type { MapText, MapToolInput } from './core/rewrite/text-map.ts'
export { bytes, duration } from './core/units.ts'
export type { CommandCall, ModelClient, PluginCommand, PluginContext, RouteHandler } from './plugin/contract.ts'
export { definePlugin } from './plugin/define.ts'
export type { Exchange } from './plugin/exchange.ts'
export { messageReply } from './plugin/message-reply.ts'
