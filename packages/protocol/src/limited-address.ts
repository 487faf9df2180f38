import ipaddr from 'ipaddr.js'

const NETWORK_PARTS = 4

/** By what a peer is limited. IPv6 addresses by /64, because one host usually controls the whole prefix. */
export function limitedAddress(address = ''): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, NETWORK_PARTS).join(':') : parsed.toString()
}
