import { BlockList, isIP } from 'node:net'

/** Tests addresses against a list of CIDR ranges and single addresses. */
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
    // BlockList matches IPv4-mapped IPv6 addresses (::ffff:10.0.0.1) against IPv4 ranges.
    return address !== undefined && family !== undefined && list.check(address, family)
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address)
  return version === 4 ? 'ipv4' : version === 6 ? 'ipv6' : undefined
}
