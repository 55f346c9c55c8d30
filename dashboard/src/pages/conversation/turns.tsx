import { useMemo } from 'preact/hooks'
import type { ConversationSummary, ConversationTurn, Run } from '../../../../src/core/telemetry/conversations.ts'
import { type ConversationReply, rowsOf } from '../../conversation.ts'
import { count } from '../../format.ts'
import { Busy, Failure } from '../../parts/states.tsx'
import { Windowed } from '../../parts/windowed.tsx'
import { type ListPage, useList } from '../../use-list.ts'
import { AgentCells, MoreCells, TurnCells, TurnHead } from './turn-columns.tsx'
import { TurnDetail } from './turn-detail.tsx'
import { useUnfolded } from './use-unfolded.ts'

const ROW_HEIGHT = 56

/** Turns of a conversation in order, its sub-agents folded at their time, and the details of the selected turn. */
export function Turns({ run, selected }: { run: Run; selected: string | undefined }) {
  const list = useList<ConversationTurn>({
    path: `/dashboard/api/conversations/${encodeURIComponent(run.id)}`,
    query: '',
    cursorOf: ({ id }) => id,
    pageOf: turnsIn,
  })
  const { unfolded, errors, fold } = useUnfolded()
  const { rows: turns, hasMore } = list
  const rows = useMemo(
    () => rowsOf({ turns, hasMore, agents: run.agents, unfolded }),
    [turns, hasMore, run.agents, unfolded],
  )
  const most = useMemo(
    () =>
      [...turns, ...[...unfolded.values()].flat()].reduce(
        (sum, { contextTokens }) => Math.max(sum, contextTokens ?? 0),
        0,
      ),
    [turns, unfolded],
  )
  const hidden = run.agentCount - run.agents.length
  const isUnfolded = ({ id }: ConversationSummary) => unfolded.has(id)
  return (
    <>
      <section aria-labelledby="turns">
        <h2 id="turns">Turns</h2>
        {[list.error, ...errors.values()].map((error) => error && <Failure key={error.message} error={error} />)}
        {rows.length === 0 && list.isBusy && <Busy what="turns" />}
        {rows.length > 0 && (
          <Windowed
            className="turns"
            label="Turns, oldest first"
            rows={rows}
            rowHeight={ROW_HEIGHT}
            head={<TurnHead />}
            cells={(row) =>
              row.kind === 'agent' ? (
                <AgentCells agent={row.agent} run={run} isUnfolded={isUnfolded(row.agent)} onFold={fold} />
              ) : row.kind === 'more' ? (
                <MoreCells {...row} />
              ) : (
                <TurnCells page={run.id} turn={row.turn} agent={row.agent} most={most} selected={selected} />
              )
            }
            shown={rows.findIndex((row) => row.kind === 'turn' && row.turn.id === selected)}
            onEnd={list.more}
          />
        )}
        {hidden > 0 && (
          <p class="muted">{count(hidden)} older sub-agents are not listed; the sums and the export include them.</p>
        )}
      </section>
      {selected !== undefined && <TurnDetail key={selected} id={selected} rows={rows} conversation={run.id} />}
    </>
  )
}

function turnsIn(reply: unknown): ListPage<ConversationTurn> {
  return (reply as ConversationReply).turns // safe: the shape is that of the route
}
