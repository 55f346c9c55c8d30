import './message-text.css'
import { useState } from 'preact/hooks'
import { count, visible } from '../format.ts'
import type { MessagePart } from '../message-text.ts'
import { BodyText, type KeptBody } from './text.tsx'

/** Longest part that is shown, in characters. */
const LONGEST_PART = 20_000

interface MessageTextProps {
  readonly title: string
  /** Messages of the body; `undefined`: it has none, and is shown as it is. */
  readonly parts: readonly MessagePart[] | undefined
  readonly body: KeptBody
}

/** Messages of a body as text, and the body itself after a click. */
export function MessageText({ title, parts, body }: MessageTextProps) {
  const [isRaw, showRaw] = useState(false)
  if (parts === undefined) return <BodyText title={title} body={body} />
  const toggle = (
    <button type="button" class="quiet small" aria-pressed={isRaw} onClick={() => showRaw(!isRaw)}>
      Raw bytes
    </button>
  )
  if (isRaw) return <BodyText title={title} body={body} action={toggle} />
  return (
    <div class="body-text">
      <div class="bar">
        <h3>{title}</h3>
        {body.isCut && <span class="muted">kept in part</span>}
        {toggle}
      </div>
      <div class="parts">
        {parts.length === 0 && <p class="muted">No new messages.</p>}
        {parts.map((part, index) => (
          <div key={index} class="part">
            <h4>{visible(part.title)}</h4>
            <pre
              class="scroll"
              tabIndex={0}
              role="region"
              aria-label={`${title}, ${index + 1}: ${visible(part.title)}`}
            >
              {shown(part.text)}
            </pre>
          </div>
        ))}
      </div>
    </div>
  )
}

function shown(text: string): string {
  const left = text.length - LONGEST_PART
  return visible(left <= 0 ? text : `${text.slice(0, LONGEST_PART)} … ${count(left)} more characters`)
}
