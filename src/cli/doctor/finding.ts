/** Result of one check of the doctor. */
export interface Finding {
  /** `fault`: something is broken or unsafe. `advice`: it works, and could be better. */
  readonly level: 'ok' | 'advice' | 'fault'
  readonly says: string
  /** Suggested action. */
  readonly mend?: string
}

/** Creates a finding of a passed check. */
export function ok(says: string): Finding {
  return { level: 'ok', says }
}

/** Creates a finding of something broken or unsafe. */
export function fault(says: string, mend: string): Finding {
  return { level: 'fault', says, mend }
}

/** Creates a finding of something that works and could be better. */
export function advice(says: string, mend: string): Finding {
  return { level: 'advice', says, mend }
}
