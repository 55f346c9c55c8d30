import { ColumnHeads } from '../parts/column-heads.tsx'
import './conversations.css'
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { ConversationSummary, ListedRun } from '../../../src/core/telemetry/conversations.ts'
import { conversationHash, shortId } from '../conversation.ts'
import { count, moment, NOTHING, usd, visible } from '../format.ts'
import { Choice, SearchField } from '../parts/fields.tsx'
import { FirstRequest } from '../parts/first-request.tsx'
import { Fold } from '../parts/fold.tsx'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import { Windowed } from '../parts/windowed.tsx'
import { type Route, useNavigation, useQueryInAddress } from '../route.ts'
import { useList } from '../use-list.ts'
import { useSettled } from '../use-settled.ts'

const ROW_HEIGHT = 36
const AGES: Readonly<Record<string, number>> = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 }
const CLIENTS = ['claude-code', 'codex', 'opencode', 'copilot']

type Filter = Readonly<Record<'text' | 'client' | 'age', string>>

/** Row of the list: a run, which is a conversation with its sub-agents, or a sub-agent of an unfolded run. */
type Row = { readonly run: ListedRun; readonly agent?: ConversationSummary }

/** Page of all conversations, with search and filters. */
export function ConversationsPage({ route }: { route: Route }) {
  const [filter, setFilter] = useState(() => filterOf(route.query))
  const settled = useSettled(filter)
  const query = useMemo(() => searchOf(settled), [settled])
  const list = useList<ListedRun>({
    path: '/dashboard/api/conversations',
    query,
    cursorOf: ({ newestId }) => newestId,
  })
  const change = (part: Partial<Filter>) => setFilter((old) => ({ ...old, ...part }))
  useNavigation('conversations', (given) => setFilter(filterOf(given)))
  useQueryInAddress('conversations', settled)
  const isFiltered = query !== ''
  return (
    <div class="fill">
      <div class="page-head">
        <h1>Conversations</h1>
        <span class="muted" role="status">
          {list.rows.length > 0 && `${count(list.rows.length)}${list.hasMore ? ' and more' : ''}`}
        </span>
      </div>
      <Filters filter={filter} onChange={change} />
      {list.error && <Failure error={list.error} onRetry={list.more} />}
      {list.rows.length === 0 && list.isBusy && <Busy what="conversations" />}
      {list.rows.length === 0 && !list.isBusy && !list.error && (
        <Empty title={isFiltered ? 'No matching conversations' : 'No conversations yet'}>
          {isFiltered ? <p>Try fewer filters or a longer period.</p> : <FirstRequest />}
        </Empty>
      )}
      {list.rows.length > 0 && <List runs={list.rows} onEnd={list.more} />}
    </div>
  )
}

function Filters({ filter, onChange }: { filter: Filter; onChange: (part: Partial<Filter>) => void }) {
  return (
    <div class="filters">
      <SearchField value={filter.text} placeholder="id, client, agent, model …" onText={(text) => onChange({ text })} />
      <Choice
        label="Client"
        value={filter.client}
        options={{ '': 'any', ...Object.fromEntries(CLIENTS.map((client) => [client, client])) }}
        onChange={(client) => onChange({ client })}
      />
      <Choice
        label="Active in"
        value={filter.age}
        options={{ '': 'any time', '1h': 'the last hour', '24h': 'the last day', '7d': 'the last week' }}
        onChange={(age) => onChange({ age })}
      />
    </div>
  )
}

function List({ runs, onEnd }: { runs: readonly ListedRun[]; onEnd: () => void }) {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const rows = useMemo(
    () =>
      runs.flatMap((run): Row[] => [
        { run },
        ...(unfolded.has(run.id) ? run.agents.map((agent) => ({ run, agent })) : []),
      ]),
    [runs, unfolded],
  )
  const fold = (id: string) =>
    setUnfolded((old) => new Set(old.has(id) ? [...old].filter((one) => one !== id) : [...old, id]))
  return (
    <Windowed
      className="conversations"
      label="Conversations, latest first"
      rows={rows}
      rowHeight={ROW_HEIGHT}
      head={<ColumnHeads columns={COLUMNS} />}
      cells={({ run, agent }) =>
        agent === undefined ? (
          <RunCells {...run} isUnfolded={unfolded.has(run.id)} onFold={() => fold(run.id)} />
        ) : (
          <Cells {...agent} sums={agent.totals} name={`↳ ${visible(agent.agent ?? 'sub-agent')}`} />
        )
      }
      onEnd={onEnd}
    />
  )
}

const COLUMNS = [
  ['time', 'Last turn'],
  ['client', 'Client'],
  ['agents', 'Agents'],
  ['id', 'Id'],
  ['models', 'Models'],
  ['turns', 'Turns'],
  ['context', 'Context'],
  ['cost', 'Cost'],
  ['saved', 'Saved'],
  ['lost', 'Lost cache'],
] as const

function RunCells({ isUnfolded, onFold, ...run }: ListedRun & { isUnfolded: boolean; onFold: () => void }) {
  const { agentCount, agents } = run
  const hidden = agentCount - agents.length
  return (
    <Cells {...run} sums={run.runTotals} name={visible(run.client ?? NOTHING)}>
      {agentCount > 0 && (
        <Fold
          isUnfolded={isUnfolded}
          onFold={onFold}
          label={`Sub-agents of ${run.id}`}
          title={hidden > 0 ? `The newest ${count(agents.length)} are listed.` : undefined}
        >
          {count(agentCount)}
        </Fold>
      )}
    </Cells>
  )
}

interface CellsProps extends Pick<ConversationSummary, 'id' | 'lastAtMs' | 'models' | 'contextTokens'> {
  readonly sums: ConversationSummary['totals']
  readonly name: string
  readonly children?: ComponentChildren
}

function Cells({ id, lastAtMs, models, contextTokens, sums, name, children }: CellsProps) {
  const names = models.map(visible).join(', ')
  const { turns, errors, costNanoUsd, savedNanoUsd, lostNanoUsd, lostTokens } = sums
  return (
    <>
      <span class="cell time" role="cell">
        <a href={conversationHash(id)}>{moment(lastAtMs)}</a>
      </span>
      <span class="cell client" role="cell" title={name}>
        {name}
      </span>
      <span class="cell agents" role="cell">
        {children}
      </span>
      <span class="cell id mono" role="cell" title={id}>
        {shortId(id)}
      </span>
      <span class="cell models" role="cell" title={names}>
        {models.map(withoutProvider).join(', ') || NOTHING}
      </span>
      <span class="cell turns" role="cell" title={errors > 0 ? `${count(errors)} failed` : undefined}>
        {count(turns)}
      </span>
      <span class="cell context" role="cell">
        {count(contextTokens)}
      </span>
      <span class="cell cost" role="cell">
        {usd(costNanoUsd)}
      </span>
      <span class="cell saved" role="cell">
        {savedNanoUsd === 0 ? NOTHING : usd(savedNanoUsd)}
      </span>
      <span class="cell lost" role="cell" title={lostTokens > 0 ? `${count(lostTokens)} tokens` : undefined}>
        {lostNanoUsd === 0 ? NOTHING : <span class="why">{usd(lostNanoUsd)}</span>}
      </span>
    </>
  )
}

function withoutProvider(model: string): string {
  return visible(model.slice(model.indexOf('/') + 1))
}

function filterOf(query: URLSearchParams): Filter {
  const of = (name: string) => query.get(name) ?? ''
  return { text: of('text'), client: of('client'), age: of('age') }
}

function searchOf({ text, client, age }: Filter): string {
  const ageMs = AGES[age]
  const given = { text: text.trim(), client, fromMs: ageMs === undefined ? '' : String(Date.now() - ageMs) }
  return new URLSearchParams(Object.entries(given).filter(([, value]) => value !== '')).toString()
}
