import { useState } from 'preact/hooks'
import type { ConversationTurn } from '../../../../src/core/telemetry/conversations.ts'
import { count, visible } from '../../format.ts'
import { type MessagePart, newParts, replyParts } from '../../message-text.ts'
import { BodyText, Diff } from '../../parts/text.tsx'
import type { RequestDetail } from '../../request-detail.ts'
import { useSession } from '../../session.tsx'
import { useData } from '../../use-data.ts'

/** Longest part that is shown, in characters. */
const LONGEST_PART = 20_000

interface TurnTextProps {
  readonly capture: RequestDetail['capture']
  readonly before: ConversationTurn | undefined
}

/** Text of a turn, where bodies are kept: new messages, the reply, the change from the turn before. */
export function TurnText({ capture, before }: TurnTextProps) {
  const { has } = useSession()
  if (capture === null)
    return (
      <p class="muted">
        {has.capture
          ? 'The text of this turn is not available: not kept, expired, or in a process that does not respond.'
          : 'To see the text, enable capture of bodies: `dashboard.capture`.'}
      </p>
    )
  return (
    <>
      <div class="two">
        <Parts title="New in this turn" parts={newParts(capture.request.text)} body={capture.request} />
        <Parts title="Reply" parts={replyParts(capture.reply.text)} body={capture.reply} />
      </div>
      {before !== undefined && <Change key={before.id} before={before} after={capture.request.text} />}
    </>
  )
}

type Body = NonNullable<RequestDetail['capture']>['request']

function Parts({ title, parts, body }: { title: string; parts: MessagePart[] | undefined; body: Body }) {
  if (parts === undefined) return <BodyText title={title} body={body} />
  return (
    <div class="body-text">
      <div class="bar">
        <h3>{title}</h3>
        {body.isCut && <span class="muted">kept in part</span>}
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

/** Difference between the requests of a turn and the one before, which is loaded when it is opened. */
function Change({ before, after }: { before: ConversationTurn; after: string }) {
  const [isOpen, open] = useState(false)
  const { data, error } = useData<RequestDetail>(
    isOpen ? `/dashboard/api/requests/${encodeURIComponent(before.id)}` : undefined,
  )
  const label = `Change of the request from turn ${count(before.number)}`
  return (
    <details onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary>{label}</summary>
      {error && <p class="muted">{error.message}</p>}
      {data !== undefined && data.capture === null && <p class="muted">The request of that turn is not kept.</p>}
      {isOpen && data?.capture && <Diff before={data.capture.request.text} after={after} label={label} />}
    </details>
  )
}
