import type { z } from 'zod'
import type { PluginDefinition, ServiceName } from './contract.ts'

/** Declares a plugin. Returns the declaration as it is: the function gives `setup` and its services their types. */
export function definePlugin<Schema extends z.ZodType, Needs extends ServiceName>(
  definition: PluginDefinition<Schema, Needs>,
): PluginDefinition<Schema, Needs> {
  return definition
}
