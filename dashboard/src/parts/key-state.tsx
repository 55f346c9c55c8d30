import './badges.css'
import { moment } from '../format.ts'

/** Moments in the life of a key. */
interface KeyMoments {
  readonly expiresAt?: string
  readonly suspendedAt?: string
  /** End of the overlap of the last rotation. */
  readonly previousUntil?: string
  readonly revokedAt: string | null
}

/** State of a key as a badge. */
export function KeyState({ revokedAt, suspendedAt, expiresAt }: KeyMoments) {
  if (revokedAt !== null) return <span class="badge failed">revoked</span>
  if (suspendedAt !== undefined) return <span class="badge failed">suspended</span>
  if (expiresAt !== undefined && !isLater(expiresAt)) return <span class="badge failed">expired</span>
  return <span class="badge fine">active</span>
}

/** Expiry of a key, and the end of its secret before the last rotation. */
export function KeyDates({ expiresAt, previousUntil }: KeyMoments) {
  return (
    <>
      {expiresAt === undefined
        ? 'It does not expire.'
        : `${isLater(expiresAt) ? 'Expires' : 'Expired'} ${moment(Date.parse(expiresAt))}.`}
      {previousUntil !== undefined &&
        isLater(previousUntil) &&
        ` The secret before works until ${moment(Date.parse(previousUntil))}.`}
    </>
  )
}

function isLater(at: string): boolean {
  return Date.parse(at) > Date.now()
}
