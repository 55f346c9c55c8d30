import { useState } from 'preact/hooks'

const SHOWN_MS = 1500

/** Button that copies a text and confirms it. */
export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [status, setStatus] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setStatus('Copied')
    } catch {
      setStatus('Not allowed')
    }
    setTimeout(() => setStatus(''), SHOWN_MS)
  }
  return (
    <button type="button" class="quiet small" onClick={copy}>
      <span aria-live="polite">{status || label}</span>
    </button>
  )
}
