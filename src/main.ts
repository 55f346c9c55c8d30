/**
 * The process: configuration → gateway → stop on SIGTERM. The only file that does something when it is imported.
 */
import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { openGateway } from './app/gateway.ts'
import { stopWhenAsked } from './app/shutdown.ts'
import { explainStartFailure } from './app/start-failure.ts'
import { loadConfig } from './config/load.ts'
import { releaseMemoryAtRest } from './core/system/rest.ts'
import { writerTo } from './logging/line-buffer.ts'
import { createLogging } from './logging/log.ts'
import { nameSourceLines } from './logging/source-lines.ts'

/** The process's start on the wall clock, before Node itself was loaded; this line runs after all imports. */
const startedAtMs = Math.round(performance.timeOrigin)
const EXIT_CONFIGURATION = 78
const STDOUT = 1
/** Machine code of functions that have not run for some collections is released: 5 MB of what the start needed. */
const RELEASE_UNUSED_CODE = '--flush-baseline-code'
/**
 * V8 optimises a function in full after so many calls, instead of 3,000: many that each request runs once or twice never
 * got there. A tenth less CPU for a request of 1 KB. What only the start runs is not worth it.
 */
const OPTIMISE_SOONER = '--invocation-count-for-turbofan=300'

async function run(): Promise<void> {
  const loaded = loadConfig(process.env)
  const isTerminal = process.stdout.isTTY === true
  const logging = await createLogging({ level: loaded.config.log_level, isTerminal, write: writerTo(STDOUT) })
  process.on('exit', logging.flush)
  process.on('unhandledRejection', (error) => logging.log.error({ err: error }, 'process.unhandled-rejection'))
  const gateway = await openGateway({ loaded, logging, startedAtMs })
  setFlagsFromString(OPTIMISE_SOONER)
  stopWhenAsked(gateway, logging.log)
  logging.flush() // after a reader of the log sees the port, signals may come
  if (process.env.TURNPIKE_WORKER !== undefined) return
  process.stderr.write(gateway.banner)
  process.stderr.write(await gateway.firstOperatorNote())
}

setFlagsFromString(RELEASE_UNUSED_CODE)
releaseMemoryAtRest()
// A worker process starts here, and not with the command.
nameSourceLines()
run().catch((error: unknown) => {
  process.stderr.write(`${explainStartFailure(error)}\n`)
  process.exit(EXIT_CONFIGURATION)
})
