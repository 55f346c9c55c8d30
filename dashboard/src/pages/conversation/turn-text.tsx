import { useState } from 'preact/hooks'
import type { ConversationTurn } from '../../../../src/core/telemetry/conversations.ts'
import { count } from '../../format.ts'
import { newParts, replyParts } from '../../message-text.ts'
import { MessageText } from '../../parts/message-text.tsx'
import { Diff } from '../../parts/text.tsx'
import type { RequestDetail } from '../../request-detail.ts'
import { useSession } from '../../session.tsx'
import { useData } from '../../use-data.ts'

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
        <MessageText title="New in this turn" parts={newParts(capture.request.text)} body={capture.request} />
        <MessageText title="Reply" parts={replyParts(capture.reply.text)} body={capture.reply} />
      </div>
      {before !== undefined && <Change key={before.id} before={before} after={capture.request.text} />}
    </>
  )
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
