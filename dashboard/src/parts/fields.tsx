import type { InputHTMLAttributes } from 'preact'

/** A labelled field; `class` is that of the label, the members from `type` on are attributes of the input. */
interface TextFieldProps {
  label: string
  onText: (text: string) => void
  class?: string
  type?: 'text' | 'search' | 'password' | 'date' | 'datetime-local'
  value: string
  required?: boolean
  maxLength?: number
  placeholder?: string
  autocomplete?: 'off'
  spellcheck?: boolean
}

/** Field for one line of text. */
export function TextField({ label, onText, class: kind, ...input }: TextFieldProps) {
  // Safe: preact's types pair each `type` with its roles, and no role is set.
  const attributes = input as InputHTMLAttributes<HTMLInputElement>
  return (
    <label class={kind}>
      <span>{label}</span>
      <input {...attributes} onInput={({ currentTarget }) => onText(currentTarget.value)} />
    </label>
  )
}

/** Search field of a list. */
export function SearchField({ label = 'Search', ...field }: Omit<TextFieldProps, 'label'> & { label?: string }) {
  return <TextField class="search" type="search" label={label} {...field} />
}

export function Check({
  label,
  value,
  onChange,
}: {
  label: string
  value: boolean
  onChange: (value: boolean) => void
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      <span>{label}</span>
    </label>
  )
}

export function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string
  value: string
  options: Readonly<Record<string, string>>
  onChange: (value: string) => void
}) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {Object.entries(options).map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
  )
}
