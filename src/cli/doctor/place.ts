import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { createConnection } from 'node:net'
import path from 'node:path'
import type { Config } from '../../config/schema.ts'
import { messageOf } from '../../core/errors.ts'
import { urlHere } from '../../core/system/listen-address.ts'
import { receiptKeyFiles } from '../../journal/receipts/key-ring.ts'
import { advice, type Finding, fault, ok } from './finding.ts'

const LITTLE_BYTES = 1024 ** 3
const OTHERS = 0o077
const CONNECT_MS = 2000
/** A gateway under load replies late, and is not to be taken for another program. */
const PATIENCE_MS = 8000

/** Checks the machine's resources: the data folder, its disk space, and the port. */
export async function checkPlace(config: Config): Promise<Finding[]> {
  return [...checkFolder(config), ...checkKeyFile(config), await checkPort(config)]
}

function checkFolder({ data_dir: dataDir }: Config): Finding[] {
  const folder = path.resolve(dataDir)
  const present = nearestPresent(folder)
  try {
    accessSync(present, constants.R_OK | constants.W_OK)
    if (!statSync(present).isDirectory()) throw new Error(`${present} is not a folder`)
  } catch (error) {
    return [fault(`the data folder cannot be written: ${messageOf(error)}`, 'Set SVC_DATA_DIR to a folder that can.')]
  }
  const { bavail, bsize } = statfsSync(present)
  const left = bavail * bsize
  if (left < LITTLE_BYTES)
    return [
      advice(
        `the disk of ${folder} has ${Math.floor(left / 1024 ** 2)} MB left`,
        'Free some space: without it, requests under caps are refused.',
      ),
    ]
  return [ok(`the data folder is ${folder}`)]
}

/** Returns the folder itself, or its nearest existing parent. */
function nearestPresent(folder: string): string {
  return existsSync(folder) || folder === path.dirname(folder) ? folder : nearestPresent(path.dirname(folder))
}

function checkKeyFile({ data_dir: dataDir }: Config): Finding[] {
  return receiptKeyFiles(dataDir).flatMap((file) => {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat === undefined || (stat.mode & OTHERS) === 0) return []
    return [fault('other users of this machine can read a key that signs receipts', `Run \`chmod 600 ${file}\`.`)]
  })
}

async function checkPort({ server: { port, host = '127.0.0.1' } }: Config): Promise<Finding> {
  if (port === 0) return ok('the port is chosen at start-up')
  const url = urlHere(host, port)
  if (!(await isTaken(new URL(url).hostname.replace(/^\[|\]$/g, ''), port))) return ok(`port ${port} is free`)
  try {
    const reply = await fetch(`${url}/health`, { signal: AbortSignal.timeout(PATIENCE_MS) })
    const { startedAt, version } = (await reply.json()) as { startedAt?: unknown; version?: unknown }
    if (typeof startedAt === 'number') return ok(`a gateway runs on port ${port}, build ${String(version)}`)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError')
      return fault(
        `what listens on port ${port} has not replied within ${PATIENCE_MS / 1000} seconds`,
        'If it is a gateway, it is overloaded or hangs; otherwise stop it, or choose another port with PORT.',
      )
  }
  return fault(`another program listens on port ${port}`, 'Stop it, or choose another port with PORT.')
}

function isTaken(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = createConnection({ host, port, timeout: CONNECT_MS })
  socket.once('connect', () => resolve(true))
  for (const event of ['error', 'timeout']) socket.once(event, () => resolve(false))
  return promise.finally(() => socket.destroy())
}
