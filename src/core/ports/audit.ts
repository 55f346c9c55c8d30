/** A change of an account or one of its keys. Holds no secret and no text of a user's own. */
export interface AuditNote {
  /** Unique; an idempotency key: a repeated command adds no second entry. */
  readonly id: string
  readonly accountId: string
  /** `user:<id>`, `operator`, `stripe`. */
  readonly actor: string
  /** A noun and a verb, as `key.created`. */
  readonly action: string
  /** Id of the changed account or key. */
  readonly subject: string
  /** Changed fields. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** A stored note, with its moment. */
export interface AuditRecord extends Required<AuditNote> {
  readonly atMs: number
}
