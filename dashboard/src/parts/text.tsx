import './text.css'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type DiffLine, diffTexts } from '../diff.ts'
import { count, size, visible } from '../format.ts'
import { readable } from '../readable.ts'
import { Copy } from './copy.tsx'

/** Longest text that is shown, in characters: a screen cannot lay out more at once. */
const LONGEST_SHOWN = 200_000
const LONGEST_LINE = 4000
const MOST_DIFF_LINES = 2000

/** Body as the gateway kept it. */
export interface KeptBody {
  readonly text: string
  readonly isCut: boolean
  readonly totalBytes: number
}

/** Makes every character of a line visible, and bounds its length. */
function shownLine(line: string): string {
  const text = visible(line)
  if (text.length <= LONGEST_LINE) return text
  return `${text.slice(0, LONGEST_LINE)} … ${count(text.length - LONGEST_LINE)} more characters`
}

interface BodyTextProps {
  readonly title: string
  readonly body: KeptBody
  /** Button beside the title. */
  readonly action?: ComponentChildren
}

/** Body as text, of any content. */
export function BodyText({ title, body, action }: BodyTextProps) {
  const [isWhole, showWhole] = useState(false)
  const text = readable(body.text)
  const shown = isWhole ? text : text.slice(0, LONGEST_SHOWN)
  return (
    <div class="body-text">
      <div class="bar">
        <h3>{title}</h3>
        <span class="muted">
          {size(body.totalBytes)}
          {body.isCut && ', kept in part'}
        </span>
        {action}
        <Copy text={body.text} />
      </div>
      <pre class="scroll" tabIndex={0} role="region" aria-label={title}>
        {shown.split('\n').map(shownLine).join('\n')}
      </pre>
      {shown.length < text.length && (
        <button type="button" class="quiet" onClick={() => showWhole(true)}>
          Show all {count(text.length)} characters
        </button>
      )}
    </div>
  )
}

const SIGNS: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', less: '−', more: '+', gap: '⋯' }

/** Differences between two texts. */
export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
  const all = diffTexts(readable(before), readable(after))
  const lines = all.every(({ kind }) => kind === 'gap') ? [] : all
  return (
    <div class="diff scroll" tabIndex={0} role="region" aria-label={label}>
      {lines.length === 0 && <p class="muted">No difference.</p>}
      {lines.slice(0, MOST_DIFF_LINES).map(({ kind, text }, index) => (
        <div key={index} class={`line ${kind}`}>
          <span class="sign">{SIGNS[kind]}</span>
          <span class="text">{shownLine(text)}</span>
        </div>
      ))}
      {lines.length > MOST_DIFF_LINES && <p class="muted">{count(lines.length - MOST_DIFF_LINES)} more lines</p>}
    </div>
  )
}
