import { createRequire } from 'node:module'
import path from 'node:path'
import type { Log } from 'turnpike/plugin'
import type { Embedder } from '../../embedder.ts'
import { within } from '../within.ts'
import { readModelFolder } from './folder.ts'
import { ModelThread } from './thread.ts'

/** What a sentence model is run with. */
export interface OnnxSettings {
  readonly folder: string
  readonly budgetMs: number
  readonly log: Log
  /** The thread's program; tests give a broken one. */
  readonly program?: URL | undefined
  /** The runtime's file; default: where the package is installed. */
  readonly runtimeFile?: string | undefined
}

const RUNTIME = 'onnxruntime-node'
/** The version that the tests run. */
const VERSION = '1.30.0'

/**
 * DESIGN — a sentence model in a thread of its own
 *
 *   embed ──► queue ──► thread: tokens (at most 512) ──► model ──► mean or first token ──► unit vector of bytes
 *
 * Guarantees: the gateway's own thread never waits for the model; what waits is bounded; a thread that dies or
 * hangs is started again; the vector of a text depends on the text and the folder alone. Limit: a crash inside the
 * runtime's native code ends the process, as anywhere.
 *
 * Throws when the runtime is not installed, or when the folder holds no sentence model, and says what was expected.
 */
export async function createOnnxEmbedder(settings: OnnxSettings): Promise<Embedder> {
  const { folder, log, budgetMs, program } = settings
  const start = { ...readModelFolder(folder), runtimeFile: settings.runtimeFile ?? findRuntime() }
  const thread = new ModelThread({ start, log, program })
  const { dimensions } = await thread.open().catch(async (cause) => {
    await thread.close()
    throw new Error(`the model in \`${folder}\` cannot be run: ${cause.message}`, { cause })
  })
  const embed = (text: string, signal: AbortSignal) => within(thread.embed(text), { budgetMs, signal })
  return { dimensions, embed, close: () => thread.close() }
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
