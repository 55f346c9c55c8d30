/** `127.0.0.0/8`, `::1` and `localhost`, with the brackets that an IPv6 address has in a URL or without. */
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?|\[?::ffff:127\.\d+\.\d+\.\d+\]?)$/i
/** Addresses that mean every interface of this machine, and the loopback address to use in their place. */
const EVERY_INTERFACE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Returns whether a server that listens on `host` is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host)
}

/** Returns the URL at which this machine reaches a server that listens on `host`, without a slash at its end. */
export function urlHere(host: string, port: number): string {
  return `http://${inUrl(EVERY_INTERFACE[host] ?? host)}:${port}`
}

/** Prints `host:port` of a listening server; an IPv6 address gets its brackets. */
export function listenAddress(host: string, port: number): string {
  return `${inUrl(host)}:${port}`
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
