import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The part of the IPv6 space that is handed out for global unicast (RFC 4291 section 2.4, IANA). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** RFC 8215: NAT64 for use inside a network. What it leads to is for that network to say, so it is nowhere global. */
const LOCAL_NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b:1::/48')

/** Services of the machine that we run on, at addresses that look public: documented by their clouds. */
const HOST_SERVICES = [
  // Azure: wire server, DNS
  '168.63.129.16/32',
  // Equinix Metal: metadata
  '192.80.8.124/32',
  // IBM Cloud: infrastructure and service endpoints
  '161.26.0.0/16',
  '166.8.0.0/14',
].map((range) => ipaddr.IPv4.parseCIDR(range))

/**
 * Whether webhooks may go to this address: global unicast alone, an allow-list. Forms that wrap an IPv4 address are
 * as good as what they wrap; Teredo leads to hosts behind somebody's NAT, and is refused whatever it wraps.
 */
export function isGlobalUnicast(address: string): boolean {
  const family = isIP(address)
  if (family === 0 || address.includes('%')) return false
  const parsed = ipaddr.parse(family === 6 ? inHexadecimal(address) : address)
  if (parsed instanceof ipaddr.IPv4) return isGlobalIpv4(parsed)
  const wrapped = wrappedIpv4(parsed)
  if (wrapped) return isGlobalIpv4(wrapped)
  return parsed.range() === 'unicast' && parsed.match(GLOBAL_IPV6)
}

/**
 * Whether a receiver can be reached at all, as far as its name alone tells: an address that is blocked, or a name for
 * this machine (RFC 6761 section 6.3), never will be. Other names are resolved, and judged, at each connection.
 */
export function isReachableHost(hostname: string): boolean {
  const name = hostname
    .replace(/^\[|\]$/gu, '')
    .toLowerCase()
    .replace(/\.$/u, '')
  if (isIP(name) !== 0) return isGlobalUnicast(name)
  return name !== 'localhost' && !name.endsWith('.localhost')
}

function isGlobalIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !HOST_SERVICES.some((range) => address.match(range))
}

/** `::8.8.8.8` is no mapped address, though the library reads it as one. */
function inHexadecimal(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}

/** The IPv4 address that packets really go to. */
function wrappedIpv4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const bytes = address.toByteArray()
  const range = address.range()
  if (range === 'ipv4Mapped') return new ipaddr.IPv4(bytes.slice(12))
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6))
  if (range === 'rfc6052' && !address.match(LOCAL_NAT64)) return new ipaddr.IPv4(bytes.slice(12))
  return undefined
}
