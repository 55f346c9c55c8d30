import type { Names } from '../../../src/core/ports/names.ts'
import { tokensIn } from '../../../src/core/telemetry/tokens-in.ts'
import type { UsageFigures, UsageGroup } from '../../../src/core/telemetry/usage.ts'
import { DIMENSIONS, type GroupBy, WITHOUT } from '../../../src/core/telemetry/usage.ts'
import { count, duration, NOTHING, percent, savedRange, usd, visible } from '../format.ts'
import { useSession } from '../session.tsx'
import { addressOf, DIMENSION_TITLES, groupTitle, type UsageFilter, usageQuery } from '../usage-filter.ts'
import type { Loaded } from '../use-data.ts'
import { Busy, Failure } from './states.tsx'
import { Table } from './table.tsx'

/** Reply of `/dashboard/api/groups`. */
export interface Groups {
  readonly by: GroupBy | null
  readonly data: readonly UsageGroup[]
  readonly has_more: boolean
  readonly total: UsageFigures
  readonly names: Names
}

/** Properties that are hidden in local mode, which has no accounts. */
const OF_ACCOUNTS: ReadonlySet<GroupBy> = new Set(['key', 'person', 'team'])

interface UsageTableProps {
  readonly by: GroupBy
  readonly groups: Loaded<Groups>
  readonly filter: UsageFilter
  readonly members: Readonly<Record<string, string | undefined>>
}

/** Table of sums by a property; each group leads to its requests. */
export function UsageTable({ by, groups: { data, error, isBusy, reload }, filter, members }: UsageTableProps) {
  const { mode } = useSession()
  const shown: readonly GroupBy[] = [...DIMENSIONS, 'reason'] as const
  const title = DIMENSION_TITLES[by]
  const isCurrent = data?.by === by
  return (
    <section aria-labelledby="by">
      <div class="page-head">
        <h2 id="by">By {title.toLowerCase()}</h2>
        <label>
          <span class="unseen">Group by</span>
          <select
            value={by}
            onChange={({ currentTarget }) => {
              location.hash = addressOf('', { ...members, by: currentTarget.value })
            }}
          >
            {shown
              .filter((name) => mode === 'cloud' || !OF_ACCOUNTS.has(name))
              .map((name) => (
                <option key={name} value={name}>
                  By {DIMENSION_TITLES[name].toLowerCase()}
                </option>
              ))}
          </select>
        </label>
        <a class="button small" href={`/dashboard/api/groups.csv?${usageQuery({ ...filter, by })}`} download>
          CSV
        </a>
      </div>
      {error && <Failure error={error} onRetry={reload} />}
      {!isCurrent && isBusy && <Busy what="the groups" />}
      {isCurrent && (
        <Table
          labelledBy="by"
          heads={[
            title,
            'Requests',
            'Errors',
            'Spent',
            'Share',
            'Saved',
            'Tokens in',
            'Tokens out',
            'Provider, on average',
          ]}
        >
          {data.data.map((group) => (
            <GroupRow key={group.name} {...{ by, group, filter, members }} total={data.total} names={data.names} />
          ))}
        </Table>
      )}
      {isCurrent && data.has_more && (
        <p class="muted">These are the {count(data.data.length)} dearest; the file has all.</p>
      )}
      {(by === 'tag' || by === 'module') && (
        <p class="muted">
          A request with several is in the group of each, so that shares may add up to more than 100 %.
        </p>
      )}
    </section>
  )
}

interface GroupRowProps extends Pick<UsageTableProps, 'by' | 'filter' | 'members'> {
  readonly group: UsageGroup
  readonly total: UsageFigures
  readonly names: Names
}

function GroupRow({ by, group, total, names, filter, members }: GroupRowProps) {
  const title = groupTitle(by, group.name, names)
  const name = visible(title)
  const chosen = { [by]: group.name }
  const isChosen = by !== 'reason' && by !== 'conversation' && filter[by] === undefined
  return (
    <tr>
      <th scope="row">
        <a href={addressOf('requests', { ...filter, ...chosen })} title={title === group.name ? undefined : group.name}>
          {name}
        </a>
        {isChosen && (
          <a
            class="only"
            href={addressOf('', { ...members, ...chosen, ...(OF_ACCOUNTS.has(by) && { by: 'model' }) })}
            aria-label={`Only ${name}`}
          >
            only
          </a>
        )}
        {by === 'conversation' && group.name !== WITHOUT && (
          <a class="only" href={`#/conversation/${encodeURIComponent(group.name)}`} aria-label={`Turns of ${name}`}>
            turns
          </a>
        )}
      </th>
      <td>{count(group.requests)}</td>
      <td>{count(group.errors)}</td>
      <td>
        {usd(group.costNanoUsd)}
        {group.ceilingNanoUsd > 0 && <small> ceiling</small>}
      </td>
      <td>{total.costNanoUsd === 0 ? NOTHING : percent(group.costNanoUsd / total.costNanoUsd)}</td>
      <td>{savedRange(group)}</td>
      <td>{count(tokensIn(group.tokens))}</td>
      <td>{count(group.tokens.output)}</td>
      <td>{group.asked === 0 ? NOTHING : duration(group.providerMs / group.asked)}</td>
    </tr>
  )
}
