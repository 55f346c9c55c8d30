/** Request to send: a few fields, or a raw body. */
export interface Draft {
  readonly model: string
  readonly maxTokens: number
  readonly system: string
  readonly message: string
  /** Raw body that replaces the fields, if set. */
  readonly body: string | undefined
  readonly path: string
}

/** Initial values of the page. */
export const FIRST_DRAFT: Draft = {
  model: 'demo/echo',
  maxTokens: 200,
  system: '',
  message: 'What is a ford?',
  body: undefined,
  path: '/v1/messages',
}

/** Returns the body to send. */
export function bodyOf({ body, model, maxTokens, system, message }: Draft): string {
  if (body !== undefined) return body
  return JSON.stringify({
    model,
    max_tokens: maxTokens,
    ...(system !== '' && { system }),
    messages: [{ role: 'user', content: message }],
  })
}

/** Turns streaming off in a former body, to be edited: the page compares whole replies. */
export function unstreamed(text: string): string {
  try {
    const { stream: _, stream_options: __, ...body } = JSON.parse(text) as Record<string, unknown>
    return JSON.stringify(body, undefined, 2)
  } catch {
    return text
  }
}
