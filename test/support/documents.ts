import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** A block of code in a page. */
export interface Example {
  /** `docs/plugins.md:16`, of its first line. */
  readonly place: string
  /** The nearest heading of the second level above it; empty above the first. */
  readonly heading: string
  readonly language: string
  readonly code: string
}

const ROOT = path.resolve(import.meta.dirname, '../..')
const PAGES = ['README.md', 'docs/*.md', 'docs/clients/*.md', 'examples/**/*.md', 'plugins/*/README.md']
const HEADING = /^## (.*)$/gm
const BLOCK = /^```(\w+)\n(.*?)^```$/gms

/** Pages with a test of their own: their requests and programs depend on earlier ones, or on packages installed on demand. */
const WALKED = [
  'docs/agents.md',
  'docs/clients/agents.md',
  'docs/clients/langchain.md',
  'docs/how-caching-stays-safe.md',
  'docs/plugin-tutorial.md',
]

/** Reads the examples of all pages that people write, in one language or in all; references are generated. */
export function readExamples(language?: string): Example[] {
  return globSync(PAGES, { cwd: ROOT })
    .toSorted()
    .flatMap(examplesOf)
    .filter((example) => language === undefined || example.language === language)
}

/** Reads the examples of one page, in order. */
export function examplesOf(page: string): Example[] {
  const text = readFileSync(path.join(ROOT, page), 'utf8')
  return [...text.matchAll(BLOCK)].map((found) => {
    const [, language = '', code = ''] = found
    const above = text.slice(0, found.index)
    const heading = [...above.matchAll(HEADING)].at(-1)?.[1] ?? ''
    return { place: `${page}:${above.split('\n').length + 1}`, heading, language, code }
  })
}

/** Returns whether code leaves a part for the reader to fill in. */
export function isSketch(code: string): boolean {
  return /…|rcpt_|<\w[\w -]*>|\[--/.test(code)
}

/** Returns the commands of a shell example: whole, without remarks. */
export function commandsOf({ code }: Example): string[] {
  return code
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#\s.*$/, '').trim())
    .filter((line) => line !== '')
}

/** Returns whether an example needs no other. */
export function isAlone({ place }: Example): boolean {
  return !WALKED.some((page) => place.startsWith(`${page}:`))
}
