import { type Reply, type SendOptions, send } from './http-client.ts'

const MOST_REDIRECTS = 15

/** A browser without pages: it keeps the cookies of each host and follows redirects. */
export class CookieBrowser {
  readonly #jars = new Map<string, Map<string, string>>()
  readonly #headers: Readonly<Record<string, string>>

  constructor(headers: Readonly<Record<string, string>> = {}) {
    this.#headers = headers
  }

  /** Sends one request with the cookies of its host, and keeps those of the reply. */
  async send(url: string, options: SendOptions = {}): Promise<Reply> {
    const { origin, pathname, search } = new URL(url)
    const cookie = [...this.#jar(origin)].map(([name, value]) => `${name}=${value}`).join('; ')
    const reply = await send(origin, {
      method: 'GET',
      ...options,
      path: pathname + search,
      headers: { authorization: undefined, cookie: cookie || undefined, ...this.#headers, ...options.headers },
    })
    for (const line of reply.headers['set-cookie'] ?? []) this.#keep(origin, line)
    return reply
  }

  /** Opens a page and follows redirects; resolves with the addresses on the way, the last one's reply not followed. */
  async open(url: string, until: (url: string) => boolean = () => false): Promise<string[]> {
    const way = [url]
    for (let here = url; way.length < MOST_REDIRECTS && !until(here); ) {
      const { location } = (await this.send(here)).headers
      if (location === undefined) break
      here = new URL(location, here).href
      way.push(here)
    }
    return way
  }

  cookie(url: string, name: string): string | undefined {
    return this.#jar(new URL(url).origin).get(name)
  }

  put(url: string, name: string, value: string): void {
    this.#jar(new URL(url).origin).set(name, value)
  }

  #keep(origin: string, line: string): void {
    const [pair = '', ...attributes] = line.split('; ')
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    const isDeleted = attributes.some((text) => /^expires=Thu, 01 Jan 1970/i.test(text))
    if (isDeleted) this.#jar(origin).delete(name)
    else this.#jar(origin).set(name, value)
  }

  #jar(origin: string): Map<string, string> {
    const jar = this.#jars.get(origin) ?? new Map<string, string>()
    this.#jars.set(origin, jar)
    return jar
  }
}
