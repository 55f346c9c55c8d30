import './fold.css'
import type { ComponentChildren } from 'preact'

interface FoldProps {
  readonly isUnfolded: boolean
  readonly onFold: () => void
  readonly label: string
  readonly title?: string | undefined
  readonly children: ComponentChildren
}

/** Button in a row that shows and hides the rows below it. */
export function Fold({ isUnfolded, onFold, label, title, children }: FoldProps) {
  return (
    <button type="button" class="fold" aria-expanded={isUnfolded} title={title} onClick={onFold}>
      <span class="arrow" aria-hidden="true">
        ▸
      </span>
      <span class="unseen">{label}: </span>
      {children}
    </button>
  )
}
