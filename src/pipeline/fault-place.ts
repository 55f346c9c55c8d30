/**
 * DESIGN — the place of a fault in a plugin
 *
 * A stack contains it, except for a syntax error in JavaScript: V8 reveals that place only when the process ends. So
 * the files of the folder are checked one after another by a separate process, which does end.
 */
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const SPECIAL = /[\\^$.*+?()[\]{}|/]/g
/** Matches the file, its line, and a column, which a syntax error shows as a mark below the line, possibly after other lines. */
const PLACE = String.raw`((?:/[^\s:?()]+)+)(?:\?version=\d+)?:(\d+)(?::(\d+))?(?:(?:\n[^\n]*){0,3}?\n([^\n]*)\n([ \t]*)\^)?`
const MOST_CHECKED = 100
const CHECK_TIMEOUT_MS = 5000

/** Returns the place of an error in a plugin's own folder, as `/folder/file.ts:12:7: `; empty when unknown. */
export async function placeIn(folder: string, error: unknown): Promise<string> {
  if (!(error instanceof Error)) return ''
  const place = placeInText(folder, error.stack ?? '')
  return place === '' && error instanceof SyntaxError ? await placeOfSyntaxError(folder) : place
}

function placeInText(folder: string, text: string): string {
  const starts = [folder, pathToFileURL(folder).href].map((start) => start.replaceAll(SPECIAL, String.raw`\$&`))
  const [, file, line, column, shown, mark] = new RegExp(`(?:${starts.join('|')})${PLACE}`).exec(text) ?? []
  if (file === undefined) return ''
  const at = mark === undefined ? column : columnOf(mark, shown ?? '', lineOf(folder + file, Number(line)))
  return `${folder}${file}:${line}:${at === undefined ? '' : `${at}:`} `
}

/** Returns the column above a mark, from 1. In the displayed line a leading tab may have become spaces. */
function columnOf(mark: string, shown: string, source: string): number {
  return mark.length + 1 - indentOf(shown) + indentOf(source === '' ? shown : source)
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

function lineOf(file: string, line: number): string {
  return readFileSync(file, 'utf8').split('\n')[line - 1] ?? ''
}

async function placeOfSyntaxError(folder: string): Promise<string> {
  const files = globSync('**/*.{js,mjs}', { cwd: folder, exclude: ['**/node_modules/**'] }).slice(0, MOST_CHECKED)
  for (const file of files.sort()) {
    const place = placeInText(folder, await complaintAbout(path.join(folder, file)))
    if (place !== '') return place
  }
  return ''
}

/** Returns the output of Node for a file that it cannot parse; empty for a valid one. */
function complaintAbout(file: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--check', file], { timeout: CHECK_TIMEOUT_MS }, (error, _, stderr) =>
      resolve(error === null ? '' : stderr),
    )
  })
}
