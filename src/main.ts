/**
 * The process: configuration → app → listen → drain on SIGTERM. The only file that does something when it is imported.
 */
import { performance } from 'node:perf_hooks'
import { createApp } from './app.ts'
import { banner } from './banner.ts'
import { ConfigError } from './config/config-error.ts'
import { loadConfig } from './config/load.ts'
import { isOpenToOthers, listenHost } from './config/reach.ts'
import { settingsInForce } from './config/settings-in-force.ts'
import { errorCodeOf, messageOf } from './core/errors.ts'
import { listen } from './http/server.ts'
import { createLogging } from './logging/log.ts'
import { requestLogger } from './logging/request-log.ts'
import { PluginError } from './pipeline/load.ts'
import { stopWhenAsked } from './stopping.ts'

/** The process's start on the wall clock, before Node itself was loaded; this line runs after all imports. */
const startedAtMs = Math.round(performance.timeOrigin)
const EXIT_CONFIGURATION = 78

async function run(): Promise<void> {
  const loaded = loadConfig(process.env)
  const { config } = loaded
  const isTerminal = process.stdout.isTTY === true
  const { log, writeLine, flush } = await createLogging({ level: config.log_level, isTerminal })
  process.on('exit', flush)
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'process.unhandled-rejection'))
  const clock = { nowMs: () => Date.now() }
  const app = await createApp({
    config,
    log,
    clock,
    random: Math.random,
    startedAtMs,
    observers: [requestLogger(writeLine, config.log_level)],
    settings: () => settingsInForce(loaded),
  })
  const host = listenHost(config)
  const port = await listen(app.server, { host, port: config.server.port })
  stopWhenAsked({ app, config, log })

  const pipeline = app.pipelines.for(undefined).printed
  const providers = app.providers.all.map(({ name, configured }) => ({ name, configured }))
  log.info({ host, port, mode: config.mode, pipeline, providers }, 'gateway.listening')
  const isOpen = isOpenToOthers(config)
  if (isOpen) log.warn({ host, port }, 'gateway.open-to-others')
  flush()
  if (process.env.TURNPIKE_WORKER !== undefined) return
  const hasDashboard = config.dashboard.access !== 'off'
  process.stderr.write(banner({ host, port, mode: config.mode, pipeline, hasDashboard, isOpen, providers }))
}

/** A start that fails is told in words, without a stack, when its cause is something that the operator can mend. */
function explainFailure(error: unknown): string {
  if (error instanceof ConfigError || error instanceof PluginError) return error.message
  const code = errorCodeOf(error)
  if (code === 'EADDRINUSE')
    return `${messageOf(error)}\nAnother program listens there. Stop it, or choose another port with PORT.`
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL') return messageOf(error)
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

// A worker process starts here, and not with the command.
process.setSourceMapsEnabled(true)
run().catch((error: unknown) => {
  process.stderr.write(`turnpike cannot start: ${explainFailure(error)}\n`)
  process.exit(EXIT_CONFIGURATION)
})
