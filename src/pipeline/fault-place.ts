import { pathToFileURL } from 'node:url'

const SPECIAL = /[\\^$.*+?()[\]{}|/]/g
const WITHIN = String.raw`((?:/[^\s:?()]+)+)(?:\?version=\d+)?:(\d+)`

/** The place in a plugin's own folder at which an error arose, as `/folder/file.ts:12: `; empty when no stack names one. */
export function placeIn(folder: string, error: unknown): string {
  if (!(error instanceof Error)) return ''
  const starts = [folder, pathToFileURL(folder).href].map((text) => text.replaceAll(SPECIAL, String.raw`\$&`))
  const [, file, line] = new RegExp(`(?:${starts.join('|')})${WITHIN}`).exec(error.stack ?? '') ?? []
  return file === undefined ? '' : `${folder}${file}:${line}: `
}
