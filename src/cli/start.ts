import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { passTextsOn } from '../stores/channels/workers.ts'
import { addHelp } from './help.ts'
import { wholeNumber } from './whole-number.ts'

const MOST_WORKERS = 256
/** Lifetime below which a worker is not replaced, since it would crash again. */
const SHORTEST_LIFE_MS = 5000

/** Adds `turnpike start`: runs the gateway, in this process or in several on one port. */
export function addStartCommand(program: Command): void {
  const command = program
    .command('start')
    .description('Start the gateway.')
    .option(
      '-w, --workers <count>',
      'processes that share the port; one per core is a good number',
      wholeNumber(MOST_WORKERS),
      1,
    )
    .action(async ({ workers }: { workers: number }) => {
      if (workers === 1) await import('../main.ts')
      else startWorkers(workers)
    })
  addHelp(command, {
    examples: ['turnpike start', 'PORT=8080 turnpike start --workers 2'],
    exits: {
      0: 'stopped by SIGTERM or SIGINT',
      70: 'drained after an exception outside of any request',
      78: 'failed to start: the configuration, a plugin, or the port',
    },
  })
}

function startWorkers(count: number): void {
  cluster.setupPrimary({ exec: fileURLToPath(new URL('../main.ts', import.meta.url)) })
  passTextsOn()
  let isStopping = false
  const fork = (index: number): void => {
    const startedAtMs = Date.now()
    // Only the first worker prints the banner.
    const worker = cluster.fork(index === 0 ? {} : { TURNPIKE_WORKER: String(index) })
    worker.once('exit', (code, signal) => {
      if (isStopping) return
      if (Date.now() - startedAtMs >= SHORTEST_LIFE_MS) return fork(index + count)
      // A signal to the whole group may end a worker before this process receives its own.
      const isStopped = code === 0 || signal === 'SIGTERM' || signal === 'SIGINT'
      process.exitCode = isStopped ? 0 : code || 1
      stop('SIGTERM')
    })
  }
  const stop = (signal: NodeJS.Signals): void => {
    isStopping = true
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(signal)
  }
  for (let index = 0; index < count; index++) fork(index)
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
}
