import { ColumnHeads } from '../../parts/column-heads.tsx'
import './turn-columns.css'
import type { ConversationSummary, ConversationTurn, Run } from '../../../../src/core/telemetry/conversations.ts'
import { conversationHash, shortId } from '../../conversation.ts'
import { count, duration, moment, NOTHING, tokensPerSecond as printSpeed, size, usd, visible } from '../../format.ts'
import { ContextBar, CostMix } from '../../parts/cost-classes.tsx'
import { Fold } from '../../parts/fold.tsx'
import { Cost } from '../../parts/request-columns.tsx'

const COLUMNS = [
  ['number', 'Turn'],
  ['time', 'Time'],
  ['model', 'Model'],
  ['context', 'Context'],
  ['first', 'First byte'],
  ['speed', 'Tokens/s'],
  ['classes', 'Cost by class'],
  ['cost', 'Cost'],
  ['running', 'Running total'],
  ['lost', 'Lost cache'],
  ['notes', 'Stop reason, tools, edits, lost cache'],
] as const

export function TurnHead() {
  return <ColumnHeads columns={COLUMNS} />
}

interface TurnCellsProps {
  /** Id of the conversation whose page is shown. */
  readonly page: string
  readonly turn: ConversationTurn
  /** The unfolded sub-agent whose turn it is. */
  readonly agent: ConversationSummary | undefined
  /** Largest context of the turns shown, in tokens. */
  readonly most: number
  readonly selected: string | undefined
}

/** Cells of a turn. */
export function TurnCells({ page, turn, agent, most, selected }: TurnCellsProps) {
  const { id, number, startedAtMs, modelServed, modelAsked, tokens, contextTokens, tokensPerSecond, lost } = turn
  const model = visible(modelServed ?? modelAsked) || NOTHING
  return (
    <>
      <span class={`cell number ${agent === undefined ? '' : 'of-agent'}`} role="cell">
        {count(number)}
      </span>
      <span class="cell time" role="cell">
        <a href={conversationHash(page, id)} aria-current={id === selected ? 'true' : undefined}>
          {moment(startedAtMs)}
        </a>
      </span>
      <span class="cell model" role="cell" title={model}>
        {model}
      </span>
      <span class="cell context" role="cell">
        {tokens !== null && <ContextBar tokens={tokens} most={most} />}
        <span class="figure">{count(contextTokens)}</span>
      </span>
      <span class="cell first" role="cell">
        {duration(turn.firstByteMs)}
      </span>
      <span class="cell speed" role="cell">
        {printSpeed(tokensPerSecond)}
      </span>
      <span class="cell classes" role="cell">
        {turn.costs !== null && <CostMix costs={turn.costs} />}
      </span>
      <span class="cell cost" role="cell">
        <Cost {...turn} />
      </span>
      <span class="cell running" role="cell">
        {usd(turn.runningNanoUsd)}
      </span>
      <span class="cell lost" role="cell">
        {lost === null ? NOTHING : <span class="why">{usd(lost.nanoUsd)}</span>}
      </span>
      <span class="cell notes" role="cell">
        <Notes {...turn} />
      </span>
    </>
  )
}

function Notes({ lost, ...turn }: ConversationTurn) {
  const { outcome, reason } = turn
  const notes = notesOf(turn).join(' · ')
  return (
    <>
      {outcome !== 'complete' && <span class="reason">{visible(reason ?? outcome)}</span>}
      {lost !== null && <span class="why">Lost prompt cache: {visible(lost.detail)}</span>}
      {notes !== '' && <span title={notes}>{notes}</span>}
    </>
  )
}

function notesOf({ cache, stopReason, tools, trace }: Omit<ConversationTurn, 'lost'>): string[] {
  return [
    ...(cache === 'hit' || cache === 'attached' ? ['answered from the gateway’s cache'] : []),
    ...(stopReason === null ? [] : [visible(stopReason)]),
    ...(tools.length === 0 ? [] : [tools.map(visible).join(', ')]),
    ...trace.edits.map(({ module, bytesBefore, bytesAfter }) => `${module} ${size(bytesBefore)} → ${size(bytesAfter)}`),
  ]
}

interface AgentCellsProps {
  readonly agent: ConversationSummary
  readonly run: Run
  readonly isUnfolded: boolean
  readonly onFold: (id: string) => void
}

/** Cells of a sub-agent. */
export function AgentCells({ agent, run, isUnfolded, onFold }: AgentCellsProps) {
  const { id, parentId, firstAtMs, models, contextTokens, totals } = agent
  const name = `Sub-agent ${visible(agent.agent ?? shortId(id))}`
  const parent = parentId === run.id ? undefined : run.agents.find((one) => one.id === parentId)
  return (
    <>
      <span class="cell number" role="cell">
        <Fold isUnfolded={isUnfolded} onFold={() => onFold(id)} label={`Turns of ${name}`}>
          {count(totals.turns)}
        </Fold>
      </span>
      <span class="cell time" role="cell">
        <a href={conversationHash(id)}>{moment(firstAtMs)}</a>
      </span>
      <span class="cell model" role="cell" title={name}>
        {name}
      </span>
      <span class="cell context" role="cell">
        <span class="figure">{count(contextTokens)}</span>
      </span>
      <span class="cell first" role="cell" />
      <span class="cell speed" role="cell" />
      <span class="cell classes" role="cell">
        <CostMix costs={totals.costs} />
      </span>
      <span class="cell cost" role="cell">
        {usd(totals.costNanoUsd)}
      </span>
      <span class="cell running" role="cell">
        {NOTHING}
      </span>
      <span class="cell lost" role="cell">
        {totals.lostNanoUsd === 0 ? NOTHING : <span class="why">{usd(totals.lostNanoUsd)}</span>}
      </span>
      <span class="cell notes" role="cell">
        <span class="name">{name} · </span>
        {count(totals.turns)} {totals.turns === 1 ? 'turn' : 'turns'}
        {parent !== undefined && ` · started by ${visible(parent.agent ?? shortId(parent.id))}`}
        {models.length > 0 && ` · ${models.map(visible).join(', ')}`}
      </span>
    </>
  )
}

/** Cells of the link to the turns of a sub-agent that are not shown. */
export function MoreCells({ agent, left }: { agent: ConversationSummary; left: number }) {
  return (
    <span class="cell notes" role="cell" aria-colspan={COLUMNS.length}>
      <a href={conversationHash(agent.id)}>{count(left)} more turns of this sub-agent</a>
    </span>
  )
}
