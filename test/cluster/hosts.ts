import type { Host } from '../support/gateway-process.ts'

const LOOPBACK: readonly Host[] = [2, 3, 4, 5].map((last) => ({ address: `127.0.0.${last}`, runner: [] }))

/**
 * Where the gateways of a cluster run: in network namespaces, which `npm run drill:cluster` makes where it may and names
 * in `TURNPIKE_DRILL_HOSTS` as `name=address,…`; otherwise on addresses of loopback, which Linux has plenty of.
 */
const hosts: readonly Host[] = hostsNamed(process.env.TURNPIKE_DRILL_HOSTS)

function hostsNamed(list: string | undefined): readonly Host[] {
  if (list === undefined) return LOOPBACK
  return list.split(',').map((pair) => {
    const [name = '', address = ''] = pair.split('=')
    return { address, runner: ['ip', 'netns', 'exec', name] }
  })
}

/** Returns the host of the gateway with this index, from 0; `isHere`: an address of this host. */
export function hostOf(index: number, { isHere }: { isHere: boolean }): Host {
  const possible = isHere ? LOOPBACK : hosts
  return possible[index % possible.length] as Host // safe: within
}
