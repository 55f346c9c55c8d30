import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadedConfig } from '../config/load.ts'
import { isOpenToOthers, listenHost } from '../config/reach.ts'
import { urlHere } from '../core/system/listen-address.ts'
import { drain, listen } from '../http/server.ts'
import type { Logging } from '../logging/log.ts'
import { requestLogger } from '../logging/request-log.ts'
import { loadClient } from '../providers/transport.ts'
import { createApp } from './app.ts'
import { banner, operatorNote } from './banner.ts'

/**
 * DESIGN. A gateway from its configuration to its end, independent of the process: it installs no process listeners,
 * never exits, and has no global state. A process may run several, one after the other or concurrently; `stop` releases
 * all resources of one.
 */

/** Input of `openGateway`. */
export interface GatewayOptions {
  readonly loaded: LoadedConfig
  readonly logging: Logging
  /** Start of the process, in milliseconds since 1970. */
  readonly startedAtMs: number
}

/** A listening gateway. */
export interface OpenGateway {
  readonly port: number
  /** Start-up banner: address, providers and a request to try. */
  readonly banner: string
  /** Returns a note with a new one-time link that makes the first operator; empty where none is needed. */
  firstOperatorNote(): Promise<string>
  /**
   * Drains and closes, once: serves for `server.drain_delay`, refuses new connections, lets in-flight requests finish
   * within `server.drain_timeout`, and releases everything.
   */
  stop(): Promise<void>
  /** Closes the connections that `stop` waits for. */
  cut(): void
}

/**
 * Starts a gateway; resolves when it listens. Rejects with `ConfigError`, `PluginError` or the system's error about the
 * address, with all resources released.
 */
export async function openGateway(options: GatewayOptions): Promise<OpenGateway> {
  const { loaded, logging, startedAtMs } = options
  const { config } = loaded
  const { log, writeLine, flush } = logging
  const app = await createApp({
    config,
    log,
    clock: { nowMs: () => Date.now() },
    random: Math.random,
    startedAtMs,
    observers: [requestLogger(writeLine, config.log_level)],
    loaded,
  })
  const host = listenHost(config)
  const port = await listen(app.server, { host, port: config.server.port }).catch(async (error: unknown) => {
    await app.close()
    throw error
  })

  const { mode } = config
  const pipeline = app.pipelines.for(undefined).printed
  const providers = app.providers.all.map(({ name, configured }) => ({ name, configured }))
  log.info({ host, port, mode, pipeline, providers }, 'gateway.listening')
  // Not awaited, so that the first request does not wait for it.
  setImmediate(loadClient).unref()
  const isOpen = isOpenToOthers(config)
  if (isOpen) log.warn({ host, port }, 'gateway.open-to-others')

  const end = async (): Promise<void> => {
    let isClean = false
    try {
      app.endReadiness()
      await sleep(config.server.drain_delay)
      app.endFeeds()
      isClean = await drain(app.server, config.server.drain_timeout)
      await app.close()
    } finally {
      log.info({ isClean }, 'gateway.stopped')
      flush()
    }
  }
  let ending: Promise<void> | undefined
  const hasDashboard = config.dashboard.access !== 'off'
  return {
    port,
    banner: banner({ host, port, mode, pipeline, hasDashboard, isOpen, providers }),
    firstOperatorNote: async () => {
      const secret = await app.offerFirstOperator().catch((error: unknown) => {
        log.warn({ err: error }, 'first-operator.link-failed')
        return undefined
      })
      const url = config.server.public_url?.replace(/\/+$/, '') ?? urlHere(host, port)
      return secret === undefined ? '' : operatorNote(`${url}/#/first-operator/${secret}`)
    },
    stop: () => {
      ending ??= end()
      return ending
    },
    cut: () => app.cut(),
  }
}
