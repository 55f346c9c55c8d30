import './text.css'
import { useState } from 'preact/hooks'
import { type DiffLine, diffTexts } from '../diff.ts'
import { count, size, visible } from '../format.ts'
import { readable } from '../readable.ts'
import { Copy } from './copy.tsx'

/** More than a screen can lay out at once. */
const LONGEST_SHOWN = 200_000
const LONGEST_LINE = 4000
const MOST_DIFF_LINES = 2000

/** A body as the gateway kept it. */
export interface KeptBody {
  readonly text: string
  readonly isCut: boolean
  readonly totalBytes: number
}

/** A text with every character to be seen and no line without end. */
function shownLine(line: string): string {
  const text = visible(line)
  if (text.length <= LONGEST_LINE) return text
  return `${text.slice(0, LONGEST_LINE)} … ${count(text.length - LONGEST_LINE)} more characters`
}

/** A body, as text, whatever it holds. */
export function BodyText({ title, body }: { title: string; body: KeptBody }) {
  const [isWhole, showWhole] = useState(false)
  const text = readable(body.text)
  const shown = isWhole ? text : text.slice(0, LONGEST_SHOWN)
  return (
    <div class="body-text">
      <div class="bar">
        <h3>{title}</h3>
        <span class="told">
          {size(body.totalBytes)}
          {body.isCut && ', kept in part'}
        </span>
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

/** What one text has, and another has not. */
export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
  const all = diffTexts(readable(before), readable(after))
  const lines = all.every(({ kind }) => kind === 'gap') ? [] : all
  return (
    <div class="diff scroll" tabIndex={0} role="region" aria-label={label}>
      {lines.length === 0 && <p class="told">No difference.</p>}
      {lines.slice(0, MOST_DIFF_LINES).map(({ kind, text }, index) => (
        <div key={index} class={`line ${kind}`}>
          <span class="sign">{SIGNS[kind]}</span>
          <span class="text">{shownLine(text)}</span>
        </div>
      ))}
      {lines.length > MOST_DIFF_LINES && <p class="told">{count(lines.length - MOST_DIFF_LINES)} more lines</p>}
    </div>
  )
}
