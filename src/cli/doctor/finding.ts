/** What the doctor has found out about one thing. */
export interface Finding {
  /** `fault`: something does not work, or is not safe. `advice`: it works, and could be better. */
  readonly level: 'ok' | 'advice' | 'fault'
  readonly says: string
  /** What to do about it. */
  readonly mend?: string
}

/** It is as it should be. */
export function ok(says: string): Finding {
  return { level: 'ok', says }
}

/** Something does not work, or is not safe. */
export function fault(says: string, mend: string): Finding {
  return { level: 'fault', says, mend }
}

/** It works, and could be better. */
export function advice(says: string, mend: string): Finding {
  return { level: 'advice', says, mend }
}
