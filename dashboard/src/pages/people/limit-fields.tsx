import type { Limits } from './types.ts'

const NUMBERS = [
  ['costPerDay', 'Daily limit (USD)'],
  ['costPerMonth', 'Monthly limit (USD)'],
  ['requestsPerMinute', 'Requests per minute'],
] as const

const LISTS = [
  ['models', 'Models, separated by commas; empty for all'],
  ['modules', 'Modules, separated by commas; empty for all'],
] as const

/** Fields of limits; other limits of the value are kept. */
export function LimitFields({
  value,
  onChange,
  onlyMoney = false,
}: {
  value: Limits
  onChange: (limits: Limits) => void
  onlyMoney?: boolean
}) {
  const set = (name: string, limit: number | readonly string[] | undefined) => {
    const { [name]: _, ...rest } = value
    onChange(limit === undefined ? rest : { ...rest, [name]: limit })
  }
  return (
    <div class="numbers">
      {NUMBERS.filter(([name]) => !onlyMoney || name !== 'requestsPerMinute').map(([name, title]) => (
        <label key={name}>
          <span>{title}</span>
          <input
            type="number"
            min={name === 'requestsPerMinute' ? 1 : 0}
            step="any"
            placeholder="no limit"
            value={typeof value[name] === 'number' ? String(value[name]) : ''}
            onInput={({ currentTarget: { valueAsNumber: amount } }) =>
              set(name, Number.isNaN(amount) ? undefined : amount)
            }
          />
        </label>
      ))}
      {!onlyMoney &&
        LISTS.map(([name, title]) => (
          <label key={name}>
            <span>{title}</span>
            <input
              defaultValue={[value[name] ?? []].flat().join(', ')}
              placeholder="all"
              onInput={({ currentTarget }) => set(name, listOf(currentTarget.value))}
            />
          </label>
        ))}
    </div>
  )
}

/** Parses names separated by commas; `undefined` for none. */
export function listOf(text: string): readonly string[] | undefined {
  const names = text.split(',').flatMap((name) => name.trim() || [])
  return names.length === 0 ? undefined : names
}

/** Returns limits as the routes take them: `null` for none. */
export function limitsOf(limits: Limits): Limits | null {
  return Object.keys(limits).length === 0 ? null : limits
}
