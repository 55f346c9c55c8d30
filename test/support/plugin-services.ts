import { hash } from 'node:crypto'
import type { Log } from '../../src/core/ports/log.ts'
import type { PluginServices } from '../../src/plugin/contract.ts'

const unused = () => {
  throw new Error('Expected the service not to be used')
}

/** Creates services for plugins that are set up but call nothing that costs money; the byte stores are empty. */
export function createPluginServices(log: Log): PluginServices {
  return {
    log,
    clock: { nowMs: () => 0 },
    stores: { open: () => ({ get: async () => undefined, set: async () => {}, delete: async () => {} }) },
    folder: '/nowhere',
    engines: { redisUrl: undefined, databaseUrl: undefined },
    caps: () => ({ perRequestNanoUsd: undefined, windows: [], budgets: {} }),
    prices: { price: unused, rates: unused },
    tokens: { inputTokens: unused },
    spend: { reserve: unused, grow: unused, settle: unused, spent: unused },
    models: { ask: unused },
    later: setImmediate,
    deriveKey: (purpose) => hash('sha256', purpose, 'buffer'),
  }
}
