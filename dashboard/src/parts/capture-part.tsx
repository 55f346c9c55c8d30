import { useEffect, useState } from 'preact/hooks'
import { call } from '../api.ts'
import { moment, span } from '../format.ts'
import { useAttempt } from '../use-attempt.ts'
import { useData } from '../use-data.ts'
import { Failure } from './states.tsx'

interface CaptureOptIn {
  /** End of capture; `null`: bodies are not kept. */
  readonly untilMs: number | null
  readonly keepMs: number
}

const CHOICES = [1, 24, 168] as const
const WORDS: Readonly<Record<number, string>> = { 1: 'an hour', 24: 'a day', 168: 'a week' }

/** Opt-in to keeping bodies of the account's requests for a time, in cloud mode. */
export function CapturePart() {
  const { data, error: loadError, reload } = useData<CaptureOptIn>('/dashboard/api/capture')
  const [optIn, setOptIn] = useState<CaptureOptIn>()
  const { attempt, error } = useAttempt()
  useEffect(() => setOptIn(data), [data])
  const set = (hours: number) =>
    attempt(async () =>
      setOptIn(await call<CaptureOptIn>('/dashboard/api/capture', { method: 'PUT', body: { hours } })),
    )
  const failure = error ?? loadError
  return (
    <section aria-labelledby="capture">
      <h2 id="capture">Bodies of requests</h2>
      {failure && <Failure error={failure} onRetry={reload} />}
      {optIn !== undefined && (
        <>
          <p role="status">
            {optIn.untilMs === null
              ? 'Not kept: this gateway stores figures and digests of your requests, but no text.'
              : `Kept until ${moment(optIn.untilMs)}, so that you can see the edits of plugins.`}{' '}
            Each is available for {span(optIn.keepMs)}, to you alone.
          </p>
          <div class="bar">
            {CHOICES.map((hours) => (
              <button key={hours} type="button" onClick={() => set(hours)}>
                Keep for {WORDS[hours]}
              </button>
            ))}
            {optIn.untilMs !== null && (
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
