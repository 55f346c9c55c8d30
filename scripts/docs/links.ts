import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Folders without documentation of ours. */
const PASSED_OVER = new Set(['node_modules', '.git', 'data', 'coverage'])
const LINK = /\]\(([^)\s]+)\)/g
/** The path of a source file, wherever it stands in the text. */
const SOURCE_FILE = /(?<![\w/.-])(?:bench|bin|docs|examples|plugins|scripts|src|test)\/[\w./-]+\.(?:mjs|ts|md)\b/g
/** What these tell was so when they were written. */
const HISTORY = /^(?:CHANGELOG\.md|docs\/decisions\/\d)/

/** One line for each relative link, and for each source file named, that does not exist; over all Markdown files. */
export function brokenLinks(root: string): string[] {
  const files = globSync('**/*.md', { cwd: root, exclude: (name) => PASSED_OVER.has(path.basename(name)) }).sort()
  return files.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8')
    const links = [...text.matchAll(LINK)].map(([, target = '']) => target.split('#')[0] ?? '')
    const linked = links.filter(isRelative).map((link) => path.join(path.dirname(file), link))
    const named = HISTORY.test(file) ? [] : (text.replaceAll(LINK, '').match(SOURCE_FILE) ?? [])
    const missing = [...new Set([...linked, ...named])].filter((target) => !existsSync(path.join(root, target)))
    return missing.map((target) => `${file} names ${target}, which does not exist`)
  })
}

function isRelative(target: string): boolean {
  return target !== '' && !/^[a-z]+:/.test(target)
}
