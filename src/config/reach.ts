import { isLoopback } from '../core/system/listen-address.ts'
import { ConfigError } from './config-error.ts'
import type { Config } from './schema.ts'

/** Returns the address to listen on: `server.host`, else loopback in local mode and every interface in cloud mode. */
export function listenHost({ mode, server: { host } }: Pick<Config, 'mode' | 'server'>): string {
  return host ?? (mode === 'local' ? '127.0.0.1' : '0.0.0.0')
}

/** Tests whether other machines can send requests without a key. */
export function isOpenToOthers(config: Pick<Config, 'mode' | 'server'>): boolean {
  return config.mode === 'local' && !isLoopback(listenHost(config))
}

/** Throws `ConfigError` for local mode beyond loopback without `server.local_open`. */
export function assertReachMeant(config: Pick<Config, 'mode' | 'server'>): void {
  if (!isOpenToOthers(config) || config.server.local_open) return
  throw new ConfigError(
    `Local mode beyond loopback needs SVC_LOCAL_OPEN=yes: on ${listenHost(config)} every machine that reaches the port uses your provider keys, without a key of its own. Unset HOST to listen on this machine only, or set SVC_MODE=cloud to require API keys.`,
  )
}
