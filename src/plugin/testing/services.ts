import { hash } from 'node:crypto'
import type { ByteStores } from '../../core/ports/byte-store.ts'
import type { Log } from '../../core/ports/log.ts'
import type { PluginServices, ServiceName } from '../contract.ts'

/** One line of a plugin's log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly level: string; readonly event: string }

const NOW_MS = Date.UTC(2026, 0, 1)

/** A log that adds its lines to `lines`. */
function createLog(lines: LogLine[], bindings: Readonly<Record<string, unknown>> = {}): Log {
  const write = (level: string) => (fields: object, event: string) =>
    void lines.push({ ...bindings, ...fields, level, event })
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (more) => createLog(lines, { ...bindings, ...more }),
  }
}

/** Byte stores in memory, one per namespace, whose entries last. */
function createStores(): ByteStores {
  const stores = new Map<string, Map<string, Buffer>>()
  return {
    open(namespace) {
      const entries = stores.get(namespace) ?? new Map<string, Buffer>()
      stores.set(namespace, entries)
      return {
        get: async (key) => entries.get(key),
        set: async (key, value) => void entries.set(key, value),
        delete: async (key) => void entries.delete(key),
      }
    },
  }
}

/**
 * The services in `needs`: those of the test, else a recording log, a clock fixed at the start of 2026 and stores
 * in memory. Throws for a service that the test must give itself.
 */
export function servicesFor<Needs extends ServiceName>(
  needs: readonly Needs[],
  given: Partial<PluginServices>,
  lines: LogLine[],
): Pick<PluginServices, Needs> {
  const own: Partial<PluginServices> = {
    log: createLog(lines),
    clock: { nowMs: () => NOW_MS },
    stores: createStores(),
    engines: { redisUrl: undefined, databaseUrl: undefined },
    later: setImmediate,
    deriveKey: (purpose) => hash('sha256', purpose, 'buffer'),
    ...given,
  }
  const missing = needs.find((name) => own[name] === undefined)
  if (missing !== undefined) throw new Error(`the plugin needs \`${missing}\`: give it in \`services\``)
  // All that are needed were found just above.
  return Object.fromEntries(needs.map((name) => [name, own[name]])) as unknown as Pick<PluginServices, Needs>
}
