import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'

/** The folder of the bundle, as a URL. */
const BUNDLE = new URL('../', import.meta.url).href

/**
 * Maps stack traces of a bundle to the sources. A map is read when the first trace passes through its
 * file: Node's own option reads all of them at the start, a tenth of its CPU. No-op when running from the sources.
 */
export function nameSourceLines(): void {
  if (import.meta.filename.endsWith('.ts')) return
  const maps = new Map<string, SourceMap | undefined>()
  const mapOf = (url: string): SourceMap | undefined => {
    if (!maps.has(url)) maps.set(url, readMap(url))
    return maps.get(url)
  }
  Error.prepareStackTrace = (error, frames) => {
    const lines = frames.map((frame) => `\n    at ${inSource(frame, mapOf)}`)
    return `${Error.prototype.toString.call(error)}${lines.join('')}`
  }
}

function inSource(frame: NodeJS.CallSite, mapOf: (url: string) => SourceMap | undefined): string {
  const text = String(frame)
  const url = frame.getFileName()
  const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()]
  if (!url?.startsWith(BUNDLE) || line === null || column === null) return text
  const entry = mapOf(url)?.findEntry(line - 1, column - 1)
  if (entry === undefined || !('originalSource' in entry)) return text
  const source = new URL(entry.originalSource, url).href
  return text.replace(`${url}:${line}:${column}`, `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`)
}

function readMap(url: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8')))
  } catch {
    return undefined
  }
}
