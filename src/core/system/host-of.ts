/** Returns host, port and path of a service's URL, for logs and messages: without its user and password. */
export function hostOf(url: string): string {
  const { host, pathname } = new URL(url)
  return host + pathname
}
