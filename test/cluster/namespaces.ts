/*
 * DESIGN. Hosts in network namespaces: a namespace of the drill's own, which the machine's network does not reach, with a
 * bridge in it, and behind each port of the bridge a namespace for one gateway. All of it, mounts included, is gone when
 * the last of its processes has ended.
 *
 *   drill (10.77.0.1: tests, stand-ins, databases) ──bridge──┬── host1 (10.77.0.11: a gateway)
 *                                                            └── host2 (10.77.0.12: a gateway), …
 */
const COUNT = 4

/** The address of the tests, the stand-ins and the databases. */
export const HUB = '10.77.0.1'

const hosts = Array.from({ length: COUNT }, (_, index) => ({
  name: `host${index + 1}`,
  address: `10.77.0.1${index + 1}`,
}))

/** The hosts in the form of `TURNPIKE_DRILL_HOSTS`. */
export const HOSTS = hosts.map(({ name, address }) => `${name}=${address}`).join()

/** Returns a script for `unshare --net --mount sh -ec` that creates the hosts, and then runs `command`. */
export function makeHosts(command: string): string {
  const made = hosts.map(
    ({ name, address }) => `
    ip netns add ${name}
    ip link add to-${name} type veth peer name eth0 netns ${name}
    ip link set to-${name} master bridge up
    ip -n ${name} addr add ${address}/24 dev eth0
    ip -n ${name} link set eth0 up
    ip -n ${name} link set lo up`,
  )
  return `
    mount -t tmpfs tmpfs /run # the names of namespaces are files there
    ip link set lo up
    ip link add bridge type bridge
    ip addr add ${HUB}/24 dev bridge
    ip link set bridge up
    ${made.join('')}
    exec ${command}`
}
