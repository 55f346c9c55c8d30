// Loaded into the gateway by `loop-delay.ts`: records the delay of its main thread's event loop.  SIGUSR2 restarts the
// recording; at exit the process writes the delays, in milliseconds, to $LOOP_DELAY_FILE.
import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

const file = process.env.LOOP_DELAY_FILE
const NANO_PER_MS = 1e6
const RESOLUTION_MS = 1

if (isMainThread && file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  process.on('SIGUSR2', () => delay.reset())
  process.once('exit', () => {
    const [p50, p99, largest] = [delay.percentile(50), delay.percentile(99), delay.max].map((ns) => ns / NANO_PER_MS)
    writeFileSync(file, JSON.stringify({ p50, p99, largest }))
  })
}
