/** The entry point `turnpike/plugin/commands`: commands and routes of a plugin, and error texts about their input. */
export { suggest } from '../core/nearest.ts'
export { explain } from '../core/request/message.ts'
export type { CommandCall, PluginCommand, RouteHandler } from './contract.ts'
