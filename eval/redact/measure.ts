import { type Finding, KINDS, type Kind } from '../../plugins/redact/detect/finding.ts'
import { createScan } from '../../plugins/redact/detect/scan.ts'
import { EVALUATED_KINDS, type Item, makeItems, type Part, type Sample } from './items.ts'

/** Figures of one kind. */
export interface KindFigures {
  readonly kind: string
  readonly values: number
  readonly found: number
  readonly lookAlikes: number
  readonly alarms: number
  /** A few texts whose value was missed, and a few false alarms. */
  readonly missed: readonly string[]
  readonly falseAlarms: readonly string[]
}

const MOST_SHOWN = 5
const scan = createScan(new Set<Kind>(KINDS.filter((kind) => kind !== 'host')))

/** Measures one part of the set. */
export function measurePart(part: Part, sample: Sample): KindFigures[] {
  const items = makeItems(part, sample)
  return EVALUATED_KINDS.map((kind) =>
    figuresOf(
      kind,
      items.filter((item) => item.kind === kind),
    ),
  )
}

function figuresOf(kind: string, items: readonly Item[]): KindFigures {
  const values = items.filter(({ isValue }) => isValue)
  const lookAlikes = items.filter(({ isValue }) => !isValue)
  const missed = values.filter((item) => !isCovered(item))
  const alarms = lookAlikes.filter(isTouched)
  return {
    kind,
    values: values.length,
    found: values.length - missed.length,
    lookAlikes: lookAlikes.length,
    alarms: alarms.length,
    missed: missed.slice(0, MOST_SHOWN).map(({ text }) => text),
    falseAlarms: alarms.slice(0, MOST_SHOWN).map(({ text }) => text),
  }
}

/** Tests that every character of the value would be replaced; digits and letters count, a prefix with a space does not. */
function isCovered({ kind, text, start, end }: Item): boolean {
  const findings = scan(text)
  const value = text.slice(start, end)
  if (kind === 'private_key') return areLinesCovered(value, start, findings)
  const from = start + (/^(?:PESEL|BSN:|TFN|SIN) /.exec(value)?.[0].length ?? 0)
  return findings.some((finding) => finding.start <= from && finding.end >= end)
}

function isTouched({ text, start, end }: Item): boolean {
  return scan(text).some((finding) => finding.start < end && finding.end > start)
}

const NO_LINE = /-----[A-Z0-9 ]+-----|[A-Z][A-Za-z-]{2,20}: [^\n\\]*|\\+[nrt]/g
const LINE = /[A-Za-z0-9+/=]{8,}/g

/** Tests the lines of a private key: its marks and headers may stay. */
function areLinesCovered(value: string, start: number, findings: readonly Finding[]): boolean {
  const body = value.replace(NO_LINE, (part) => ' '.repeat(part.length))
  const lines = Array.from(body.matchAll(LINE), ({ index, 0: line }) => ({ from: start + index, length: line.length }))
  return (
    lines.length > 0 &&
    lines.every(({ from, length }) => findings.some((finding) => finding.start <= from && finding.end >= from + length))
  )
}
