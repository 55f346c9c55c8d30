import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Folders without documentation of ours. */
const PASSED_OVER = new Set(['node_modules', '.git', 'data', 'coverage'])
const LINK = /\]\(([^)\s]+)\)/g

/** One line for each relative link in a Markdown file whose target does not exist. */
export function brokenLinks(root: string): string[] {
  const files = globSync('**/*.md', { cwd: root, exclude: (name) => PASSED_OVER.has(path.basename(name)) }).sort()
  return files.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8')
    const targets = [...text.matchAll(LINK)].map(([, target = '']) => target.split('#')[0] ?? '')
    const missing = targets.filter(
      (target) => isRelative(target) && !existsSync(path.join(root, path.dirname(file), target)),
    )
    return missing.map((target) => `${file} links to ${target}, which does not exist`)
  })
}

function isRelative(target: string): boolean {
  return target !== '' && !/^[a-z]+:/.test(target)
}
