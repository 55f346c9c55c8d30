/** An error of Stripe; its body is `{ error: … }`. */
export class Refusal extends Error {
  readonly status: number
  readonly fields: Readonly<Record<string, unknown>>

  constructor(status: number, message: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.status = status
    this.fields = { type: status >= 500 ? 'api_error' : 'invalid_request_error', ...fields }
  }

  toBody(): unknown {
    return { error: { message: this.message, ...this.fields } }
  }
}

/** Makes the refusal of an object that does not exist. */
export function missing(kind: string, id: string): Refusal {
  return new Refusal(404, `No such ${kind}: '${id}'`, { code: 'resource_missing', param: 'id' })
}
