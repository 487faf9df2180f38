import { BlockList, isIP } from 'node:net'

/** Whether an address is one of ours. Ranges are written as 10.0.0.0/8 or fd00::/8, single addresses without length. */
export function trustedPeers(ranges: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', length] = range.split('/')
    const family = familyOf(address)
    if (!family) throw new Error(`${range} is neither an address nor a range.`)
    if (length === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(length), family)
  }
  return (address) => {
    const family = familyOf(address ?? '')
    // Node compares an IPv4 address in IPv6 form (::ffff:10.0.0.1) with IPv4 ranges by itself.
    return address !== undefined && family !== undefined && list.check(address, family)
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address)
  return version === 4 ? 'ipv4' : version === 6 ? 'ipv6' : undefined
}
