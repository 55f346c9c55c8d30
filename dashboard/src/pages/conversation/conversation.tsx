import './conversation.css'
import { useState } from 'preact/hooks'
import type { Run } from '../../../../src/core/telemetry/conversations.ts'
import { type ConversationReply, conversationHash, shortId } from '../../conversation.ts'
import { count, moment, span, usd, visible } from '../../format.ts'
import { Copy } from '../../parts/copy.tsx'
import { CostTable } from '../../parts/cost-classes.tsx'
import { Card, Fact } from '../../parts/facts.tsx'
import { Busy, Failure } from '../../parts/states.tsx'
import type { Route } from '../../route.ts'
import { useData } from '../../use-data.ts'
import { Budgets } from './budgets.tsx'
import { Turns } from './turns.tsx'
import { useNewTurns } from './use-new-turns.ts'

/** Page of one conversation: costs, budgets, turns. */
export function ConversationPage({ route }: { route: Route }) {
  const path = `/dashboard/api/conversations/${encodeURIComponent(route.id)}`
  const { data, error, isBusy, reload } = useData<ConversationReply>(`${path}?limit=1`)
  const [round, setRound] = useState(0)
  const reloadAll = () => {
    reload()
    setRound((old) => old + 1)
  }
  const shown = data?.conversation.id === route.id ? data.conversation : undefined
  const newTurns = useNewTurns(shown?.rootId, round)
  return (
    <>
      <p class="crumb">
        <a href="#/conversations">← Conversations</a>
        {shown?.parentId && (
          <>
            {' '}
            <a href={conversationHash(shown.parentId)}>← Started by {shortId(shown.parentId)}</a>
          </>
        )}
      </p>
      {error && <Failure error={error} onRetry={reload} />}
      {shown === undefined && isBusy && <Busy what="the conversation" />}
      {shown !== undefined && !error && (
        <>
          <Head run={shown} path={path} newTurns={newTurns} onReload={reloadAll} />
          <Figures run={shown} />
          <div class="two">
            <Costs run={shown} />
            <div class="stack">
              <Facts run={shown} />
              <Budgets key={`${shown.id} ${round}`} id={shown.id} />
            </div>
          </div>
          <Turns key={`${shown.id} ${round}`} run={shown} selected={route.query.get('turn') ?? undefined} />
        </>
      )}
    </>
  )
}

interface HeadProps {
  readonly run: Run
  readonly path: string
  readonly newTurns: number
  onReload(): void
}

function Head({ run, path, newTurns, onReload }: HeadProps) {
  const { id, client, agent } = run
  return (
    <div class="page-head">
      <h1 class="wrap">
        {agent === null ? 'Conversation' : `Sub-agent ${visible(agent)}`} {shortId(id)}
      </h1>
      {client !== null && <span class="badge">{visible(client)}</span>}
      <span role="status">
        <button type="button" class={newTurns > 0 ? 'primary' : undefined} onClick={onReload}>
          {newTurns === 0 ? 'Reload' : newTurns === 1 ? 'Show 1 new turn' : `Show ${count(newTurns)} new turns`}
        </button>
      </span>
      <a class="button" href={`${path}/turns.jsonl`} download>
        Export JSONL
      </a>
    </div>
  )
}

function Figures({ run }: { run: Run }) {
  const { runTotals, totals, agentCount, contextTokens } = run
  const { turns, errors, costNanoUsd, unpriced, savedNanoUsd, lostNanoUsd, lostTokens } = runTotals
  return (
    <div class="cards lead figures">
      <Card
        title="Cost"
        value={usd(costNanoUsd)}
        note={
          agentCount > 0
            ? `${usd(totals.costNanoUsd)} without sub-agents`
            : unpriced > 0
              ? `${count(unpriced)} turns without a known price`
              : 'as billed'
        }
      />
      <Card title="Turns" value={count(turns)} note={turnNote(errors, agentCount)} />
      <Card title="Context" value={count(contextTokens)} note="input tokens of the latest turn" />
      <Card title="Saved" value={usd(savedNanoUsd)} note="by the gateway" />
      <Card
        title="Lost prompt cache"
        value={usd(lostNanoUsd)}
        note={lostTokens > 0 ? `${count(lostTokens)} tokens not read from the provider’s cache` : 'nothing'}
      />
    </div>
  )
}

function Facts({ run }: { run: Run }) {
  const { firstAtMs, lastAtMs, source, models, id } = run
  return (
    <dl class="facts">
      <Fact name="First turn">{moment(firstAtMs)}</Fact>
      <Fact name="Last activity">{moment(lastAtMs)}</Fact>
      <Fact name="Span">{span(lastAtMs - firstAtMs)}</Fact>
      <Fact name="Recognised by">{source === 'client' ? 'the client’s session id' : 'its first messages'}</Fact>
      <Fact name="Models" isWide>
        {models.map(visible).join(', ') || 'No response'}
      </Fact>
      <Fact name="Id" isWide>
        <code>{id}</code> <Copy text={id} />
      </Fact>
    </dl>
  )
}

function turnNote(errors: number, agents: number): string {
  const notes = [
    errors > 0 && `${count(errors)} failed`,
    agents > 0 && `with ${count(agents)} ${agents === 1 ? 'sub-agent' : 'sub-agents'}`,
  ].filter((note) => note !== false)
  return notes.join(', ') || 'all answered'
}

function Costs({ run: { runTotals, agentCount } }: { run: Run }) {
  return (
    <section aria-labelledby="costs">
      <h2 id="costs">Cost{agentCount > 0 && ', sub-agents included'}</h2>
      <CostTable label="Cost by class" {...runTotals} />
    </section>
  )
}
