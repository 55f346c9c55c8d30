import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { KINDS, type Kind } from '../../plugins/redact/detect/finding.ts'
import { createScan } from '../../plugins/redact/detect/scan.ts'

/** Findings in texts that hold nothing to find. */
export interface OrdinaryFigures {
  readonly words: number
  readonly findings: readonly string[]
}

const ROOT = path.resolve(import.meta.dirname, '../..')
const FOLDERS = ['src', 'docs', 'plugins', 'config', 'dashboard/src']
const TEXT = /\.(?:ts|tsx|md|json|ya?ml|css|html)$/
/** The detectors' own examples. */
const LEFT_OUT = /^plugins\/redact\/|\/dist\//

/** Counts findings in the project's sources and documentation; each is false until a person has looked at it. */
export function measureOrdinary(): OrdinaryFigures {
  const scan = createScan(new Set<Kind>(KINDS.filter((kind) => kind !== 'host')))
  let words = 0
  const findings: string[] = []
  for (const file of FOLDERS.flatMap(filesIn)) {
    const text = readFileSync(path.join(ROOT, file), 'utf8')
    words += text.split(/\s+/).length
    for (const { kind, start, end } of scan(text))
      findings.push(`${kind} ${file}: ${text.slice(start, end).slice(0, 60)}`)
  }
  return { words, findings }
}

function filesIn(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(folder, name))
    .filter((name) => TEXT.test(name) && !LEFT_OUT.test(name))
    .sort()
}
