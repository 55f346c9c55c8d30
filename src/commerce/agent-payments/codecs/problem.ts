/** Payment problems: the last part of the problem's address, and its title (specification, 7.2). */
const TITLES = {
  'payment-required': 'Payment Required',
  'malformed-credential': 'Malformed Credential',
  'invalid-challenge': 'Invalid Challenge',
  'verification-failed': 'Payment Verification Failed',
} as const

/** The name of a payment problem. */
export type ProblemName = keyof typeof TITLES

/** Registry of the payment scheme's problems (draft-httpauth-payment, section 8). */
const PROBLEM_BASE = 'https://paymentauth.org/problems/'

/** The body of a payment problem (RFC 9457). */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: 402
  readonly detail: string
}

/** Creates a payment problem, with its remedy in `detail`. */
export function paymentProblem(name: ProblemName, detail: string): Problem {
  return { type: `${PROBLEM_BASE}${name}`, title: TITLES[name], status: 402, detail }
}
