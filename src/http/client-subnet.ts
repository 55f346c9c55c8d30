const NETWORK_GROUPS = 4

/**
 * Returns the key by which addresses are counted: an IPv4 address itself, for an IPv6 address its /64 network, since
 * each subscriber has 2^64 addresses in one (RFC 4291, section 2.5.4).
 */
export function clientSubnet(address = 'unknown'): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const groups = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - groups.length - last.length
  return [...groups, ...Array<string>(zeros).fill('0'), ...last].slice(0, NETWORK_GROUPS).join(':')
}
