import { useState } from 'preact/hooks'

const SHOWN_MS = 1500

/** A button that copies a text, and says that it has. */
export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, say] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      say('Copied')
    } catch {
      say('Not allowed')
    }
    setTimeout(() => say(''), SHOWN_MS)
  }
  return (
    <button type="button" class="quiet small" onClick={copy}>
      <span aria-live="polite">{said || label}</span>
    </button>
  )
}
