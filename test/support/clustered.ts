import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { receiptKeyFile } from '../../src/journal/receipts/signing-key.ts'
import type { GatewayProcess } from './gateway-process.ts'
import { query } from './postgres.ts'
import { resetSocket } from './reset-socket.ts'

/*
 * DESIGN. `npm run drill:cluster` runs the tests of the whole application once more, with several gateways wherever a test
 * starts one: they share a database and a Redis of that test, and each new connection goes to the next of them. The proxy
 * in front moves bytes without reading HTTP, so that the tests' claims about bytes, headers and cut connections hold
 * through it as well.
 */

/** Addresses of the services that the drill's gateways share. */
interface Drill {
  readonly size: number
  /** Address of a PostgreSQL server, for an operator. */
  readonly postgresUrl: string
  /** Address of a Redis that has a database for each test. */
  readonly redisUrl: string
}

/** The current drill; `undefined`: none, a gateway is one process. */
export const drill: Drill | undefined = drillFrom(process.env.TURNPIKE_DRILL_CLUSTER)

function drillFrom(json: string | undefined): Drill | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as Drill) // safe: the drill wrote it
}

type Environment = Readonly<Record<string, string>>

/** Engines of data folders that were used before: a gateway that starts there again finds its data. */
const known = new Map<string, Promise<Environment>>()

/** Starts the drill's number of gateways, and the proxy in front of them. `start` starts one. */
export async function startClustered(
  { size, ...engines }: Drill,
  env: Environment,
  start: (env: Environment) => Promise<GatewayProcess>,
): Promise<GatewayProcess> {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-clustered-'))
  const shared = await enginesOf(env.SVC_DATA_DIR ?? folder, engines)
  const gateways: GatewayProcess[] = []
  const front = await startFront(gateways)
  // Who signs in comes back through the balancer.
  const publicUrl = { SVC_PUBLIC_URL: `http://127.0.0.1:${front.port}` }
  const stopAll = async (graceMs?: number) => {
    const [exit] = await Promise.all(gateways.map((gateway) => gateway.stop(graceMs)))
    rmSync(folder, { recursive: true, force: true })
    return exit ?? { code: null, signal: null }
  }
  const startNth = async (nth: number) => {
    const data = path.join(folder, String(nth))
    mkdirSync(data)
    const first = receiptKeyFile(path.join(folder, '0'))
    if (nth > 0 && existsSync(first)) copyFileSync(first, receiptKeyFile(data))
    gateways.push(await start({ SVC_DATA_DIR: data, ...shared, ...publicUrl, ...env }))
  }
  try {
    // The first one creates the tables and the key of receipts.
    await startNth(0)
    await Promise.all(Array.from({ length: size - 1 }, (_, index) => startNth(index + 1)))
  } catch (error) {
    await stopAll()
    front.close()
    throw error
  }
  const [{ pid }] = gateways as [GatewayProcess]
  let stopping: ReturnType<typeof stopAll> | undefined
  const stop = (graceMs?: number) => {
    stopping ??= stopAll(graceMs).finally(front.close)
    return stopping
  }
  return {
    url: `http://127.0.0.1:${front.port}`,
    port: front.port,
    pid,
    log: () => gateways.map(({ log }) => log()).join(''),
    exited: Promise.all(gateways.map(({ exited }) => exited)).then(([exit]) => exit ?? { code: null, signal: null }),
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  }
}

/** Returns the address of the database that the drill's gateways on a data folder share; `undefined`: no drill. */
export async function databaseOf(folder: string): Promise<string | undefined> {
  return (await known.get(folder))?.DATABASE_URL
}

/** Creates a database and a Redis for the data of a folder. */
function enginesOf(folder: string, drill: Omit<Drill, 'size'>): Promise<Environment> {
  const existing = known.get(folder) ?? makeEngines(drill)
  known.set(folder, existing)
  return existing
}

async function makeEngines({ postgresUrl, redisUrl }: Omit<Drill, 'size'>): Promise<Environment> {
  const [row] = await query(postgresUrl, `select nextval('drill') as nth`)
  const nth = Number(row?.nth)
  await query(postgresUrl, `create database drill_${nth}`)
  const database = new URL(postgresUrl)
  database.pathname = `drill_${nth}`
  return { DATABASE_URL: String(database), REDIS_URL: `${redisUrl}/${nth}` }
}

/** Passes each new connection to the next gateway, bytes and endings as they arrive. */
async function startFront(gateways: readonly GatewayProcess[]): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>()
  let turn = 0
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const { port } = gateways[turn++ % gateways.length] as GatewayProcess // safe: within
    const gateway = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    join(client, gateway)
    join(gateway, client)
    for (const socket of [client, gateway]) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { port: typeof address === 'object' && address !== null ? address.port : 0, close }
}

/** Joins two sockets: bytes, ends and resets of one reach the other. */
function join(from: Socket, to: Socket): void {
  from.pipe(to)
  // A refusal may still be on its way when its sender has broken off.
  from.once('error', () => to.end(() => resetSocket(to)))
  from.once('close', (hadError) => hadError || from.readableEnded || to.destroy())
}
