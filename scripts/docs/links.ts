import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { anchorOf } from './markdown.ts'

/** Folders without documentation of the project. */
const EXCLUDED = new Set(['node_modules', '.git', 'data', 'coverage'])
const LINK = /\]\(([^)\s]+)\)/g
/** Matches the path of a source file, anywhere in the text. */
const SOURCE_FILE = /(?<![\w/.-])(?:bench|bin|docs|examples|plugins|scripts|src|test)\/[\w./-]+\.(?:mjs|ts|md)\b/g
/** Matches historical pages, whose references may be outdated. */
const HISTORY = /^(?:CHANGELOG\.md|docs\/decisions\/\d)/

const FENCED = /^(```|~~~).*?^\1/gms
const HEADING = /^#{1,6} +(.+?) *$/gm

/**
 * Lists each relative link and each named source file that does not exist, and each anchor without a heading on its
 * page, over all Markdown files.
 */
export function brokenLinks(root: string): string[] {
  return markdownFiles(root).flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8')
    const links = relativeLinks(file, text)
    const named = HISTORY.test(file) ? [] : (text.replaceAll(LINK, '').match(SOURCE_FILE) ?? [])
    const targets = [...new Set([...links.map(({ target }) => target), ...named])]
    const missing = targets.filter((target) => !existsSync(path.join(root, target)))
    return [
      ...missing.map((target) => `${file} names ${target}, which does not exist`),
      ...links
        .filter((link) => !missing.includes(link.target) && !hasAnchor(root, link))
        .map(({ target, anchor }) => `${file} links to ${target}#${anchor}, which is no heading there`),
    ]
  })
}

/** Returns the pages of `folder` that no chain of links from `start` reaches; paths from the root. */
export function unreachablePages(root: string, { folder, start }: { folder: string; start: string }): string[] {
  const reached = new Set([start])
  // A set can grow during iteration.
  for (const file of reached) {
    const links = relativeLinks(file, readFileSync(path.join(root, file), 'utf8')).map(({ target }) => target)
    for (const link of links) if (link.endsWith('.md') && existsSync(path.join(root, link))) reached.add(link)
  }
  return markdownFiles(root).filter((file) => file.startsWith(`${folder}/`) && !reached.has(file))
}

/** Link to a file of the project, from the root; `anchor` is empty for the whole page. */
interface RelativeLink {
  readonly target: string
  readonly anchor: string
}

function markdownFiles(root: string): string[] {
  return globSync('**/*.md', { cwd: root, exclude: (name) => EXCLUDED.has(path.basename(name)) }).sort()
}

function relativeLinks(file: string, text: string): RelativeLink[] {
  return [...text.replaceAll(FENCED, '').matchAll(LINK)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((link) => {
      const [target = '', anchor = ''] = link.split('#')
      return { target: target === '' ? file : path.join(path.dirname(file), target), anchor }
    })
}

function hasAnchor(root: string, { target, anchor }: RelativeLink): boolean {
  if (anchor === '' || !target.endsWith('.md')) return true
  return anchorsOf(readFileSync(path.join(root, target), 'utf8')).has(anchor)
}

/** Returns the anchors that GitHub generates for the headings of a page. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of text.replaceAll(FENCED, '').matchAll(HEADING)) {
    const name = anchorOf(heading)
    let nth = 0
    while (anchors.has(nth === 0 ? name : `${name}-${nth}`)) nth++
    anchors.add(nth === 0 ? name : `${name}-${nth}`)
  }
  return anchors
}
