import { GatewayError, type Log } from 'turnpike/plugin'
import type { Redaction } from '../redaction.ts'
import { withinBounds } from '../report.ts'
import type { Detector } from './detector.ts'
import { DetectorFailure } from './failure.ts'

/** Circumstances of a request that is searched. */
export interface ConsultOptions {
  readonly signal: AbortSignal
  /** True for a request that changes nothing: it goes on whatever fails. */
  readonly isObserved: boolean
  readonly log: Log
}

/** Adds the detector's values to a redaction, or marks that it has failed. Throws `service_unavailable` where that is refused. */
export async function consult(
  detector: Detector,
  redaction: Redaction,
  { signal, isObserved, log }: ConsultOptions,
): Promise<void> {
  try {
    const values = await detector.find(redaction.texts, signal)
    withinBounds(redaction, () => redaction.add(values))
  } catch (error) {
    if (!(error instanceof DetectorFailure)) throw error
    log.warn({ fault: error.message }, 'redact.detector-failed')
    redaction.hasDetectorFailed = true
    if (isObserved || detector.onFailure === 'continue') return
    throw new GatewayError('service_unavailable', 'The detector that the operator has configured does not reply.', {
      detail: 'redact_detector',
      cause: error,
    })
  }
}
