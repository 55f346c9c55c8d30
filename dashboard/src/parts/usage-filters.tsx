import './usage-filters.css'
import { useState } from 'preact/hooks'
import type { Names } from '../../../src/core/ports/names.ts'
import { DIMENSIONS, type GroupBy } from '../../../src/core/telemetry/usage.ts'
import { timeZone, visible } from '../format.ts'
import { addressOf, DIMENSION_TITLES, groupTitle, RANGES, rangeTitle, type UsageFilter } from '../usage-filter.ts'
import { TextField } from './fields.tsx'

type Members = Readonly<Record<string, string | undefined>>

interface PartProps {
  readonly page: string
  /** All members of the page's address. */
  readonly members: Members
}

/** Choice of a named range, each a link, and of any other. */
export function RangeChoice({ page, members, defaultRange }: PartProps & { defaultRange: string | undefined }) {
  const { from, to, range = defaultRange } = members
  const isCustom = from !== undefined || to !== undefined
  const [isOpen, open] = useState(isCustom)
  const hrefOf = (name: string | undefined) =>
    addressOf(page, { ...members, range: name, from: undefined, to: undefined })
  return (
    <>
      <fieldset class="choice">
        <legend>Time</legend>
        {defaultRange === undefined && (
          <a href={hrefOf(undefined)} aria-current={!isCustom && range === undefined ? 'true' : undefined}>
            All
          </a>
        )}
        {RANGES.map(([name, title]) => (
          <a key={name} href={hrefOf(name)} aria-current={!isCustom && name === range ? 'true' : undefined}>
            {title}
          </a>
        ))}
        <button type="button" class="quiet small" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
          {isCustom ? rangeTitle(members) : 'From … to'}
        </button>
        {(isCustom || range !== undefined) && <small class="muted">{visible(members.tz ?? timeZone())}</small>}
      </fieldset>
      {isOpen && <CustomRange key={`${from} ${to}`} page={page} members={members} />}
    </>
  )
}

function CustomRange({ page, members }: PartProps) {
  const [from, setFrom] = useState(members.from ?? '')
  const [to, setTo] = useState(members.to ?? '')
  return (
    <form
      class="custom-range"
      onSubmit={(event) => {
        event.preventDefault()
        location.hash = addressOf(page, { ...members, range: undefined, from, to })
      }}
    >
      <TextField label="From" type="datetime-local" required value={from} onText={setFrom} />
      <TextField label="To; empty: now" type="datetime-local" value={to} onText={setTo} />
      <button type="submit">Show</button>
    </form>
  )
}

interface ChipProps {
  readonly filter: UsageFilter & { reason?: string }
  /** Names of keys, people and teams; without them their ids are shown. */
  readonly names: Names | undefined
}

/** Properties that requests are filtered by; each is a link that removes it. */
export function FilterChips({ page, members, filter, names }: PartProps & ChipProps) {
  const properties: readonly GroupBy[] = [...DIMENSIONS, 'reason']
  const chosen = properties.flatMap((name) => {
    const value = filter[name]
    return value === undefined ? [] : [{ name, value }]
  })
  if (chosen.length === 0) return null
  return (
    <ul class="chips" aria-label="Filters">
      {chosen.map(({ name, value }) => (
        <li key={name}>
          <a href={addressOf(page, { ...members, [name]: undefined })} title={`Remove this filter: ${value}`}>
            <span class="value">
              {DIMENSION_TITLES[name]}: {visible(groupTitle(name, value, names))}
            </span>
            <span aria-hidden="true">×</span>
            <span class="unseen">, remove</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

/** Form that adds a filter by a property. */
export function AddFilter({ page, members }: PartProps) {
  const [name, setName] = useState<string>('tag')
  const [value, setValue] = useState('')
  const add = (event: Event) => {
    event.preventDefault()
    if (value.trim() !== '') location.hash = addressOf(page, { ...members, [name]: value.trim() })
    setValue('')
  }
  return (
    <form class="filters" onSubmit={add}>
      <label>
        <span>Filter by</span>
        <select value={name} onChange={({ currentTarget }) => setName(currentTarget.value)}>
          {DIMENSIONS.map((dimension) => (
            <option key={dimension} value={dimension}>
              {DIMENSION_TITLES[dimension]}
            </option>
          ))}
        </select>
      </label>
      <TextField label="Is exactly; “-”: has none" value={value} onText={setValue} />
      <button type="submit">Add</button>
    </form>
  )
}
