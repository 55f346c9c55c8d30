import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { HierarchicalNSW } from 'hnswlib-node'

/** Goes up when what is in a graph changes its meaning: its parameters, its labels, how vectors are folded. */
const VERSION = 2
/** Files of graphs at most; those written longest ago go. */
const MOST_FILES = 16

/** What is noted beside a graph's file. */
interface Note {
  readonly version: number
  readonly sha256: string
  readonly count: number
  readonly deleted: readonly number[]
}

/** Graphs in files. One that is not exactly what was written is not read: it is built again from the entries. */
export class GraphFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Reads a graph into `graph`; gives the labels that are deleted in it, or `undefined` when there is none to be trusted. */
  async read(scope: string, graph: HierarchicalNSW): Promise<Set<number> | undefined> {
    try {
      const note: Note = JSON.parse(await readFile(this.#file(scope, 'json'), 'utf8'))
      if (note.version !== VERSION || note.sha256 !== (await digestOf(this.#file(scope, 'hnsw')))) return undefined
      await graph.readIndex(this.#file(scope, 'hnsw'))
      return graph.getCurrentCount() === note.count ? new Set(note.deleted) : undefined
    } catch {
      return undefined
    }
  }

  /** Writes a graph: the file first, then the note that vouches for it. */
  async write(scope: string, graph: HierarchicalNSW, deleted: ReadonlySet<number>): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const file = this.#file(scope, 'hnsw')
    const unfinished = `${file}.${process.pid}`
    const count = graph.getCurrentCount()
    await graph.writeIndex(unfinished)
    const note: Note = { version: VERSION, sha256: await digestOf(unfinished), count, deleted: [...deleted] }
    await rename(unfinished, file)
    await writeFile(this.#file(scope, 'json'), JSON.stringify(note))
    await this.#prune()
  }

  #file(scope: string, ending: string): string {
    return path.join(this.#folder, `${scope}.${ending}`)
  }

  async #prune(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.hnsw'))
    if (names.length <= MOST_FILES) return
    const aged = await Promise.all(
      names.map(async (name) => ({ name, atMs: (await stat(path.join(this.#folder, name))).mtimeMs })),
    )
    aged.sort((a, b) => a.atMs - b.atMs)
    for (const { name } of aged.slice(0, names.length - MOST_FILES)) {
      const scope = name.slice(0, -'.hnsw'.length)
      for (const ending of ['json', 'hnsw']) await rm(this.#file(scope, ending), { force: true })
    }
  }
}

async function digestOf(file: string): Promise<string> {
  const digest = createHash('sha256')
  await pipeline(createReadStream(file), digest)
  return digest.digest('base64url')
}
