import './states.css'
import type { ComponentChildren } from 'preact'

/** Note of loading, delayed so that quick replies do not flash it. */
export function Busy({ what }: { what: string }) {
  return (
    <p class="busy" role="status">
      Loading {what}…
    </p>
  )
}

/** Error with a retry button. */
export function Failure({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  return (
    <div class="notice failure" role="alert">
      <p>{error.message}</p>
      {onRetry && (
        <button type="button" class="quiet" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Note of an empty list, with a hint. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}
