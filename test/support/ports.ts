import { once } from 'node:events'
import { connect } from 'node:net'
import { HERE } from './here.ts'

/** Below the range from which systems assign ports themselves, to listeners on port 0 and to clients. */
const LOWEST = 10_000
const COUNT = 20_000
const MOST_TRIES = 20

/** Returns a free TCP port of loopback that the system does not assign to others in the meantime. */
export async function freePort(): Promise<number> {
  for (let nth = 0; nth < MOST_TRIES; nth++) {
    const port = LOWEST + Math.floor(Math.random() * COUNT)
    // Found without listening: a process that starts at that moment would hold the port for a while.
    if (!(await accepts(port))) return port
  }
  throw new Error(`Expected a free port among ${MOST_TRIES} from ${LOWEST} on`)
}

/**
 * True while a port of loopback accepts connections. A listener that was closed still does while a process is being started,
 * which has a copy of it until its program runs.
 */
export async function accepts(port: number): Promise<boolean> {
  const socket = connect({ port, host: HERE })
  try {
    await once(socket, 'connect') // rejects when the socket emits `error`
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
