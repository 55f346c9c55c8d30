import { useEffect, useState } from 'preact/hooks'
import { call } from '../api.ts'
import { moment } from '../format.ts'
import { useData } from '../use-data.ts'
import { Failure } from './states.tsx'

interface Wish {
  /** `null`: bodies are not kept. */
  readonly untilMs: number | null
  readonly keepMs: number
}

const CHOICES = [1, 24, 168] as const
const WORDS: Readonly<Record<number, string>> = { 1: 'an hour', 24: 'a day', 168: 'a week' }
const HOUR_MS = 3_600_000

/** Cloud mode: whether bodies of the account's requests are kept, for a time that the user sets. */
export function CapturePart() {
  const { data, error: loadError, reload } = useData<Wish>('/dashboard/api/capture')
  const [wish, setWish] = useState<Wish>()
  const [error, setError] = useState<Error>()
  useEffect(() => setWish(data), [data])
  const set = async (hours: number) => {
    try {
      setWish(await call<Wish>('/dashboard/api/capture', { method: 'PUT', body: { hours } }))
      setError(undefined)
    } catch (thrown) {
      // Safe: `call` throws errors.
      setError(thrown as Error)
    }
  }
  const failure = error ?? loadError
  return (
    <section aria-labelledby="capture">
      <h2 id="capture">Bodies of requests</h2>
      {failure && <Failure error={failure} onRetry={reload} />}
      {wish !== undefined && (
        <>
          <p role="status">
            {wish.untilMs === null
              ? 'Not kept: this gateway remembers figures and digests of your requests, and no word of them.'
              : `Kept until ${moment(wish.untilMs)}, so that you can see what modules change.`}{' '}
            Each can be seen for {Math.round(wish.keepMs / HOUR_MS)} hours, by you alone.
          </p>
          <div class="bar">
            {CHOICES.map((hours) => (
              <button key={hours} type="button" onClick={() => set(hours)}>
                Keep for {WORDS[hours]}
              </button>
            ))}
            {wish.untilMs !== null && (
              <button type="button" class="danger" onClick={() => set(0)}>
                Stop now
              </button>
            )}
          </div>
        </>
      )}
    </section>
  )
}
