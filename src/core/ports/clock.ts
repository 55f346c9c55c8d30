/** The time, passed in so that tests can turn it. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970. */
  nowMs(): number
}
