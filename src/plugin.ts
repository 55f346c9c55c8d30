/**
 * The entry point `turnpike/plugin`: the declaration of a plugin, the exchange, errors and units.
 *
 * A plugin is a folder with an `index.ts` (or `.js`, `.mjs`) whose default export is `definePlugin({…})`. It lists the
 * services that it needs in `needs`; `setup` receives exactly those. Caches import `turnpike/plugin/cache` as well, modules
 * that count money `turnpike/plugin/spend`, modules that read or make raw bytes `turnpike/plugin/bytes`, those with commands
 * or routes `turnpike/plugin/commands`, those with threads or waits `turnpike/plugin/thread`, and tests
 * `turnpike/plugin/test`.
 */
export { z } from 'zod'
export { GatewayError } from './core/errors.ts'
export type { Edit } from './core/json/splice.ts'
export type { Clock } from './core/ports/clock.ts'
export type { Log } from './core/ports/log.ts'
export { jsonReply, type Reply } from './core/reply/reply.ts'
export type { ContentBlock, Message, Tool } from './core/request/message.ts'
export { RequestDocument } from './core/request/request.ts'
export { replaceText } from './core/rewrite/replace-text.ts'
export { bytes, duration } from './core/units.ts'
export type { ModelClient, PluginContext } from './plugin/contract.ts'
export { definePlugin } from './plugin/define.ts'
export type { Exchange } from './plugin/exchange.ts'
export { messageReply } from './plugin/message-reply.ts'
