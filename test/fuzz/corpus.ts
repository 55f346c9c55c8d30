import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { FuzzCase } from './fuzzer.ts'

const FOLDER = path.join(import.meta.dirname, 'corpus')
/** The salts that a kept input is tried with. */
const SALTS = 8

/** The kept inputs of a fuzzer, as latin1; a file is one input, its bytes as they are. */
export function readCorpus(name: string): string[] {
  const folder = path.join(FOLDER, name)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .map((file) => readFileSync(path.join(folder, file), 'latin1'))
}

/** Returns each kept input with a few salts, and with that of its file's name, if it has one. */
export function corpusCases(name: string): FuzzCase[] {
  const folder = path.join(FOLDER, name)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const text = readFileSync(path.join(folder, file), 'latin1')
      const found = /^found-(\d+)-/.exec(file)?.[1]
      const salts = [...Array(SALTS).keys(), ...(found === undefined ? [] : [Number(found)])]
      return salts.map((salt) => ({ text, salt }))
    })
}

/** Writes an input that broke a promise into the corpus; its file's name has the salt. Returns the path. */
export function keep(name: string, { text, salt }: FuzzCase): string {
  const folder = path.join(FOLDER, name)
  mkdirSync(folder, { recursive: true })
  const file = path.join(
    folder,
    `found-${salt}-${createHash('sha256').update(text, 'latin1').digest('hex').slice(0, 8)}`,
  )
  writeFileSync(file, text, 'latin1')
  return file
}
