import ipaddr from 'ipaddr.js'

/** The IPv6 global unicast space assigned by IANA (RFC 4291 section 2.4). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** RFC 8215: local-use NAT64. Each network defines its own translation, so it is never global. */
const LOCAL_NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b:1::/48')

/** Host services of cloud providers at addresses from the public range, as documented by the providers. */
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
 * Whether another party may name this address for us to connect to: an allow-list of global unicast. An IPv6 address that
 * embeds an IPv4 address is checked by the embedded one. Teredo is always refused, since it leads to hosts behind a NAT.
 */
export function isGlobalUnicast(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return isGlobalIpv4(ipaddr.IPv4.parse(address))
  const parsed = parseIpv6(address)
  if (!parsed) return false
  const embedded = embeddedIpv4(parsed)
  if (embedded) return isGlobalIpv4(embedded)
  return parsed.range() === 'unicast' && parsed.match(GLOBAL_IPV6)
}

/**
 * Early check of the host of a URL: blocked addresses and names of this machine (RFC 6761 section 6.3) are refused. Other
 * names are resolved and checked at each connection.
 */
export function isReachableHost(hostname: string): boolean {
  const name = hostname
    .replace(/^\[|\]$/gu, '')
    .toLowerCase()
    .replace(/\.$/u, '')
  if (name.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(name)) return isGlobalUnicast(name)
  return name !== 'localhost' && !name.endsWith('.localhost')
}

function isGlobalIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !HOST_SERVICES.some((range) => address.match(range))
}

/**
 * Undefined if it is no IPv6 address, or one with a zone. The library parses `::8.8.8.8` as an IPv4-mapped address, which it
 * is not; hexadecimal notation avoids that.
 */
function parseIpv6(address: string): ipaddr.IPv6 | undefined {
  const [, head = '', tail] = /^([\da-f:]*:)(\d+\.\d+\.\d+\.\d+)$/iu.exec(address) ?? ['', address]
  if (tail !== undefined && !ipaddr.IPv4.isValidFourPartDecimal(tail)) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = tail?.split('.').map(Number) ?? []
  const groups = [a * 256 + b, c * 256 + d].map((group) => group.toString(16)).join(':')
  const text = tail === undefined ? head : `${head}${groups}`
  return /^[\da-f:]+$/iu.test(text) && ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined
}

/** The IPv4 address that packets are translated or tunnelled to. */
function embeddedIpv4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const bytes = address.toByteArray()
  const range = address.range()
  if (range === 'ipv4Mapped') return new ipaddr.IPv4(bytes.slice(12))
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6))
  if (range === 'rfc6052' && !address.match(LOCAL_NAT64)) return new ipaddr.IPv4(bytes.slice(12))
  return undefined
}
