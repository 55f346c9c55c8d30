import { useEffect, useRef } from 'preact/hooks'
import type { ConversationTurn } from '../../../../src/core/telemetry/conversations.ts'
import type { FinishedRequest } from '../../../../src/core/telemetry/telemetry.ts'
import { tokensIn } from '../../../../src/core/telemetry/tokens-in.ts'
import { type ConversationRow, conversationHash } from '../../conversation.ts'
import { count, duration, moment, NOTHING, tokensPerSecond as printSpeed, usd, visible } from '../../format.ts'
import { StatusBadge } from '../../parts/badges.tsx'
import { CostTable } from '../../parts/cost-classes.tsx'
import { Edits } from '../../parts/edits.tsx'
import { Fact } from '../../parts/facts.tsx'
import { LOSS_TITLES } from '../../parts/losses.tsx'
import { Cost, savedOf } from '../../parts/request-columns.tsx'
import { Busy, Failure } from '../../parts/states.tsx'
import type { RequestDetail } from '../../request-detail.ts'
import { useData } from '../../use-data.ts'
import { TurnText } from './turn-text.tsx'

interface TurnDetailProps {
  /** Id of the request. */
  readonly id: string
  /** Id of the conversation whose page is shown. */
  readonly conversation: string
  readonly rows: readonly ConversationRow[]
}

/** Details of a turn: its figures, cost, edits and text. */
export function TurnDetail({ id, conversation, rows }: TurnDetailProps) {
  const { data, error, isBusy, reload } = useData<RequestDetail>(`/dashboard/api/requests/${encodeURIComponent(id)}`)
  const { turn, before, after } = neighbours(rows, id)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <section class="turn" aria-labelledby="turn">
      <div class="page-head">
        <h2 id="turn" ref={heading} tabIndex={-1}>
          {turn === undefined ? 'Selected turn' : `Turn ${count(turn.number)}`}
        </h2>
        {before !== undefined && (
          <a class="button" href={conversationHash(conversation, before.id)}>
            ← Turn {count(before.number)}
          </a>
        )}
        {after !== undefined && (
          <a class="button" href={conversationHash(conversation, after.id)}>
            Turn {count(after.number)} →
          </a>
        )}
        <a class="button" href={`#/request/${id}`}>
          Open the request
        </a>
        <a class="button quiet" href={conversationHash(conversation)}>
          Close
        </a>
      </div>
      {error && <Failure error={error} onRetry={reload} />}
      {data === undefined && isBusy && <Busy what="the turn" />}
      {data !== undefined && (
        <>
          <Lost {...data.request} />
          <div class="two">
            <Figures request={data.request} turn={turn} />
            <Costs {...data.request} />
          </div>
          {data.request.trace.edits.length > 0 && <Edits {...data} />}
          <TurnText capture={data.capture} before={before} />
        </>
      )}
    </section>
  )
}

/** Returns a turn of the rows, and those before and after it in the same conversation. */
function neighbours(rows: readonly ConversationRow[], id: string) {
  const found = rows.find((row) => row.kind === 'turn' && row.turn.id === id)
  const turns = rows.flatMap((row) =>
    row.kind === 'turn' && found?.kind === 'turn' && row.agent?.id === found.agent?.id ? row.turn : [],
  )
  const at = turns.findIndex((turn) => turn.id === id)
  return { turn: turns[at], before: turns[at - 1], after: at < 0 ? undefined : turns[at + 1] }
}

function Lost({ lost }: FinishedRequest) {
  if (lost === null) return null
  return (
    <div class="notice">
      <p>
        <strong>Lost prompt cache ({LOSS_TITLES[lost.reason]}):</strong> {visible(lost.detail)}. {count(lost.tokens)}{' '}
        tokens were expected to be read from it; the additional cost is {usd(lost.nanoUsd)}.
      </p>
    </div>
  )
}

function Figures({ request, turn }: { request: FinishedRequest; turn: ConversationTurn | undefined }) {
  const { tokens, tools } = request
  return (
    <dl class="facts">
      <Fact name="Status">
        <StatusBadge {...request} />
      </Fact>
      <Fact name="When">{moment(request.startedAtMs)}</Fact>
      <Fact name="Model">{visible(request.modelServed ?? request.modelAsked) || NOTHING}</Fact>
      <Fact name="Stop reason">{visible(request.stopReason ?? NOTHING)}</Fact>
      <Fact name="Context">{tokens === null ? NOTHING : `${count(tokensIn(tokens))} tokens`}</Fact>
      <Fact name="Time to first byte">{duration(request.firstByteMs)}</Fact>
      <Fact name="Speed">
        {turn === undefined || turn.tokensPerSecond === null ? NOTHING : `${printSpeed(turn.tokensPerSecond)} tokens/s`}
      </Fact>
      <Fact name="Took">{duration(request.totalMs)}</Fact>
      <Fact name="Cost">
        <Cost {...request} />
      </Fact>
      <Fact name="Running total">{usd(turn?.runningNanoUsd)}</Fact>
      <Fact name="Saved">{usd(savedOf(request))}</Fact>
      <Fact name="Server tool calls">{count(request.serverToolCalls)}</Fact>
      <Fact name="Tools called" isWide>
        {tools.map(visible).join(', ') || 'None'}
      </Fact>
      {request.reason !== null && (
        <Fact name="Reason of refusal" isWide>
          {visible(request.reason)}
        </Fact>
      )}
    </dl>
  )
}

function Costs({ costs, costNanoUsd, ...request }: FinishedRequest) {
  if (costs === null || costNanoUsd === null) return <p class="muted">The cost of this turn is not known.</p>
  return <CostTable label="Cost of the turn by class" {...request} costs={costs} costNanoUsd={costNanoUsd} />
}
