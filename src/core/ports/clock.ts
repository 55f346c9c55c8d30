/** Current time, passed in so that tests can set it. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970. */
  nowMs(): number
}
