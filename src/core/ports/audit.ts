/** Something that was done to an account or one of its keys. It holds no secret and no text of a user's own. */
export interface AuditNote {
  /** Unique; a repeated command must not make a second entry. */
  readonly id: string
  readonly accountId: string
  /** `user:<id>`, `operator`, `stripe`. */
  readonly actor: string
  /** What happened: a noun and a verb, as `key.created`. */
  readonly action: string
  /** Id of what it happened to. */
  readonly subject: string
  /** What changed. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** The same with its moment, as it was entered. */
export interface AuditRecord extends Required<AuditNote> {
  readonly atMs: number
}
