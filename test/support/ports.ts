import { once } from 'node:events'
import { createServer } from 'node:net'
import { HERE } from './here.ts'

/** Below the range from which systems assign ports themselves, to listeners on port 0 and to clients. */
const LOWEST = 10_000
const COUNT = 20_000
const MOST_TRIES = 20

/** Returns a free TCP port of loopback that the system does not assign to others in the meantime. */
export async function freePort(): Promise<number> {
  for (let nth = 0; nth < MOST_TRIES; nth++) {
    const port = LOWEST + Math.floor(Math.random() * COUNT)
    if (await isFree(port)) return port
  }
  throw new Error(`Expected a free port among ${MOST_TRIES} from ${LOWEST} on`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, HERE)
  try {
    await once(server, 'listening') // rejects when the server emits `error`
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
