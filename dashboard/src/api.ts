/** What the gateway answered instead of data. */
export class ApiError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** What a call may carry. */
export interface CallOptions {
  readonly method?: string
  readonly body?: unknown
  readonly signal?: AbortSignal
  /** Shown once, to sign in. */
  readonly token?: string
}

/** Calls the gateway. The mark tells it that a page of its own asks: see `session-cookie.ts`. Throws `ApiError`. */
export async function call<T>(path: string, { method = 'GET', body, signal, token }: CallOptions = {}): Promise<T> {
  const reply = await fetch(path, {
    method,
    headers: {
      'x-turnpike-dashboard': '1',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'The gateway does not answer. Is it running?')
  })
  if (!reply.ok) throw new ApiError(reply.status, await reasonOf(reply))
  // Safe: each path's shape is that of its route.
  return (reply.status === 204 ? undefined : await reply.json()) as T
}

async function reasonOf(reply: Response): Promise<string> {
  try {
    const { error } = (await reply.json()) as { error?: { message?: string } }
    return error?.message ?? `The gateway answered ${reply.status}.`
  } catch {
    return `The gateway answered ${reply.status}.`
  }
}
