/** What is asked: a few fields, or a body as it is. */
export interface Draft {
  readonly model: string
  readonly maxTokens: number
  readonly system: string
  readonly message: string
  /** Instead of the fields, unless it is unset. */
  readonly body: string | undefined
  readonly path: string
}

/** What a page begins with. */
export const FIRST_DRAFT: Draft = {
  model: 'demo/echo',
  maxTokens: 200,
  system: '',
  message: 'What is a ford?',
  body: undefined,
  path: '/v1/messages',
}

/** The body that is sent. */
export function bodyOf({ body, model, maxTokens, system, message }: Draft): string {
  if (body !== undefined) return body
  return JSON.stringify({
    model,
    max_tokens: maxTokens,
    ...(system !== '' && { system }),
    messages: [{ role: 'user', content: message }],
  })
}

/** A body that was sent before, to be edited. Streams are for programs: what is compared here is the whole. */
export function unstreamed(text: string): string {
  try {
    const { stream: _, stream_options: __, ...body } = JSON.parse(text) as Record<string, unknown>
    return JSON.stringify(body, undefined, 2)
  } catch {
    return text
  }
}
