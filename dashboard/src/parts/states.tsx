import './states.css'
import type { ComponentChildren } from 'preact'

/** Says that something is on its way; quick answers come before it is seen. */
export function Busy({ what }: { what: string }) {
  return (
    <p class="busy" role="status">
      Loading {what}…
    </p>
  )
}

/** Says what went wrong, and lets the reader try again. */
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

/** Says why there is nothing to see, and what would change that. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}
