import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { isGlobalUnicast } from '@agent-exchange/protocol/global-unicast'

export interface PushAddressRules {
  /** Ports of the gateway's own listeners. */
  readonly ownPorts: ReadonlySet<number>
}

/** Metadata services of cloud providers in ranges that a company uses for its own servers. */
const METADATA = new Set(['100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'])
/** Ranges of the company's own networks. Anything else must be a public address. */
const PRIVATE: ReadonlySet<string> = new Set(['private', 'uniqueLocal', 'carrierGradeNat'])

/**
 * Whether items may be pushed to this address. Unlike the webhooks of an exchange, systems of the company are often at
 * private addresses. Never: link-local and metadata addresses, and the gateway's own listeners. Loopback only where the
 * URL itself names it, so that no name can lead there.
 */
export function isPushAddress(
  address: string,
  { hostname, port }: { readonly hostname: string; readonly port: number },
  { ownPorts }: PushAddressRules,
): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  const text = parsed.toString()
  if (METADATA.has(text)) return false
  if (ownPorts.has(port) && isOwnAddress(text)) return false
  const range = parsed.range()
  if (range === 'loopback') return namesLoopback(hostname)
  return PRIVATE.has(range) || isGlobalUnicast(text)
}

function namesLoopback(hostname: string): boolean {
  return hostname === 'localhost' || (isIP(hostname) !== 0 && ipaddr.process(hostname).range() === 'loopback')
}

function isOwnAddress(address: string): boolean {
  if (ipaddr.process(address).range() === 'loopback') return true
  return Object.values(networkInterfaces())
    .flat()
    .some((each) => each && ipaddr.process(each.address).toString() === address)
}
