import { useState } from 'preact/hooks'

const OVERLAPS = [
  [0, 'at once'],
  [3600, 'in an hour'],
  [86_400, 'in a day'],
  [604_800, 'in a week'],
] as const

/** Button that gives a key a new secret, with a choice of the time that the one before still works. */
export function Rotate({ onRotate }: { onRotate: (overlapSeconds: number) => void }) {
  const [overlapSeconds, setOverlap] = useState(3600)
  return (
    <>
      <button type="button" onClick={() => onRotate(overlapSeconds)}>
        New secret
      </button>
      <select
        aria-label="End of the secret before"
        value={String(overlapSeconds)}
        onChange={({ currentTarget }) => setOverlap(Number(currentTarget.value))}
      >
        {OVERLAPS.map(([seconds, title]) => (
          <option key={seconds} value={String(seconds)}>
            the old one ends {title}
          </option>
        ))}
      </select>
    </>
  )
}
