import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findSources, type RawSourceMap } from './source-map.ts'

/** The folder of the bundle, as a URL. */
const BUNDLE = new URL('../', import.meta.url).href
const MOST_PLACES = 1000

/** The place of a frame, and its text where the frame is of the bundle. */
interface Frame {
  readonly text: string
  readonly url: string
  readonly line: number
  readonly column: number
}

/**
 * Maps stack traces of a bundle to the sources. Places are remembered, and maps are not: a map is read when a trace passes
 * through its file at a new place. Node's own option reads all of them at the start, a tenth of its CPU. No-op when running
 * from the sources.
 */
export function nameSourceLines(): void {
  if (import.meta.filename.endsWith('.ts')) return
  const known = new Map<string, string>()
  Error.prepareStackTrace = (error, callSites) => {
    const frames = callSites.map(frameOf)
    if (known.size > MOST_PLACES) known.clear()
    const unknown = frames.filter((frame) => isOfBundle(frame) && !known.has(keyOf(frame)))
    for (const url of new Set(unknown.map((frame) => frame.url)))
      for (const [key, place] of placesOf(url, unknown)) known.set(key, place)
    const lines = frames.map((frame) => `\n    at ${inSource(frame, known.get(keyOf(frame)))}`)
    return `${Error.prototype.toString.call(error)}${lines.join('')}`
  }
}

function frameOf(site: NodeJS.CallSite): Frame {
  const [line, column] = [site.getLineNumber() ?? 0, site.getColumnNumber() ?? 0]
  return { text: String(site), url: site.getFileName() ?? '', line, column }
}

function isOfBundle({ url, line, column }: Frame): boolean {
  return url.startsWith(BUNDLE) && line > 0 && column > 0
}

function keyOf({ url, line, column }: Frame): string {
  return `${url}:${line}:${column}`
}

function inSource(frame: Frame, place: string | undefined): string {
  return place === undefined ? frame.text : frame.text.replace(keyOf(frame), () => place)
}

/** Finds the places of a file's frames, by their keys; a frame without a source has its own. */
function placesOf(url: string, frames: readonly Frame[]): [key: string, place: string][] {
  const own = frames.filter((frame) => frame.url === url)
  const map = readMap(url)
  const sources =
    map &&
    findSources(
      map,
      own.map(({ line, column }) => ({ line: line - 1, column: column - 1 })),
    )
  return own.map((frame, index) => {
    const source = sources?.[index]
    const place = source && `${new URL(source.source, url).href}:${source.line + 1}:${source.column + 1}`
    return [keyOf(frame), place ?? keyOf(frame)]
  })
}

function readMap(url: string): RawSourceMap | undefined {
  try {
    return JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8'))
  } catch {
    return undefined
  }
}
