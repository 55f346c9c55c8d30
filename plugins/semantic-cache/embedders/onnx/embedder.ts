import { createRequire } from 'node:module'
import path from 'node:path'
import type { Log } from 'turnpike/plugin'
import type { Embedder } from '../../embedder.ts'
import { within } from '../within.ts'
import { readModelFolder } from './folder.ts'
import { TextQueue } from './queue.ts'
import { ModelThread, type Ready } from './thread.ts'

/** What a sentence model is run with. */
export interface OnnxSettings {
  readonly folder: string
  readonly threads: number
  readonly longestWaitMs: number
  readonly budgetMs: number
  readonly log: Log
  /** The threads' program; tests give a broken one. */
  readonly program?: URL | undefined
  /** The runtime's file; default: where the package is installed. */
  readonly runtimeFile?: string | undefined
}

const RUNTIME = 'onnxruntime-node'
/** The version that the tests run. */
const VERSION = '1.30.0'

/**
 * DESIGN — a sentence model in threads of its own
 *
 *   embed ──► queue ──► thread: tokens (at most 512) ──► model ──► mean or first token ──► unit vector of bytes
 *
 * Guarantees: the gateway's own thread never waits for the model; what waits is bounded by time; a thread that dies or
 * hangs is started again; the vector of a text depends on the text and the folder alone. Limit: a crash inside the
 * runtime's native code ends the process, as anywhere.
 *
 * Throws when the runtime is not installed, or when the folder holds no sentence model, and says what was expected.
 */
export async function createOnnxEmbedder(settings: OnnxSettings): Promise<Embedder> {
  const { folder, threads: count, log, longestWaitMs, budgetMs, program } = settings
  const { id, files } = await readModelFolder(folder)
  const start = { ...files, runtimeFile: settings.runtimeFile ?? findRuntime() }
  const onFree = () => queue.advance()
  const threads = Array.from({ length: count }, () => new ModelThread({ start, log, program, onFree }))
  const queue = new TextQueue(threads, longestWaitMs)
  const close = async () => void (await Promise.all(threads.map((thread) => thread.close())))
  const first = await openAll(threads).catch(async (cause) => {
    await close()
    throw new Error(`the model in \`${folder}\` cannot be run: ${cause.message}`, { cause })
  })
  const { dimensions, msPerCharacter } = first
  queue.msPerCharacter = msPerCharacter
  const embed = (text: string, signal: AbortSignal) => within(queue.embed(text, signal), { budgetMs, signal })
  return { id, dimensions, embed, close }
}

/** Waits for all of them, so that none is left starting when one has failed. */
async function openAll(threads: readonly ModelThread[]): Promise<Ready> {
  const opened = await Promise.allSettled(threads.map((thread) => thread.open()))
  const ready = opened.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
  const [first] = ready
  if (first === undefined) throw new Error('no thread was asked for')
  return first
}

/** The runtime's file; looked for beside the gateway, then below the working directory. Throws with what to install. */
function findRuntime(): string {
  for (const place of [import.meta.url, path.join(process.cwd(), 'turnpike.yaml')]) {
    try {
      return createRequire(place).resolve(RUNTIME)
    } catch {
      // It is looked for in the next place.
    }
  }
  throw new Error(`\`embedder: onnx\` needs a package that is not installed: run \`npm install ${RUNTIME}@${VERSION}\``)
}
