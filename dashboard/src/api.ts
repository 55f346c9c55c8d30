/** Error reply of the gateway. */
export class ApiError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Options of a call. */
export interface CallOptions {
  readonly method?: string
  readonly body?: unknown
  readonly signal?: AbortSignal
  /** Session token, sent once to sign in. */
  readonly token?: string
}

/** Calls the gateway, with the mark of its own pages: see `session-cookie.ts`. Throws `ApiError`. */
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
    throw new ApiError(0, 'No response from the gateway. Is it running?')
  })
  if (!reply.ok) throw new ApiError(reply.status, await reasonOf(reply))
  // Safe: each path's shape is that of its route.
  return (reply.status === 204 ? undefined : await reply.json()) as T
}

async function reasonOf(reply: Response): Promise<string> {
  try {
    const { error } = (await reply.json()) as { error?: { message?: string } }
    return error?.message ?? `The gateway replied ${reply.status}.`
  } catch {
    return `The gateway replied ${reply.status}.`
  }
}
