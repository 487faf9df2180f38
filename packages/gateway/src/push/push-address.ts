import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { isGlobalUnicast } from '@agent-exchange/protocol/global-unicast'

/** Where an instance of the gateway listens. */
export interface InstanceListeners {
  readonly addresses: readonly string[]
  readonly ports: readonly number[]
}

export interface PushAddressRules {
  /** Ports of the listeners of this process. */
  readonly ownPorts: ReadonlySet<number>
  /** The listeners of all instances. */
  readonly instances?: readonly InstanceListeners[]
}

/** Metadata services of cloud providers in ranges that a company uses for its own servers. */
const METADATA = new Set(['100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'])
/** Ranges of the company's own networks. Anything else must be a public address. */
const PRIVATE: ReadonlySet<string> = new Set(['private', 'uniqueLocal', 'carrierGradeNat'])

/**
 * Whether items may be pushed to this address. Unlike the webhooks of an exchange, systems of the company are often at
 * private addresses. Never: link-local and metadata addresses, and the
 * listeners of its instances. Loopback only where the
 * URL itself names it, so that no name can lead there.
 */
export function isPushAddress(
  address: string,
  { hostname, port }: { readonly hostname: string; readonly port: number },
  { ownPorts, instances = [] }: PushAddressRules,
): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  const text = parsed.toString()
  if (METADATA.has(text)) return false
  if (ownPorts.has(port) && isOwnAddress(text)) return false
  if (instances.some(({ addresses, ports }) => ports.includes(port) && addresses.includes(text))) return false
  const range = parsed.range()
  if (range === 'loopback') return namesLoopback(hostname)
  return PRIVATE.has(range) || isGlobalUnicast(text)
}

function namesLoopback(hostname: string): boolean {
  return hostname === 'localhost' || (isIP(hostname) !== 0 && ipaddr.process(hostname).range() === 'loopback')
}

function isOwnAddress(address: string): boolean {
  return ipaddr.process(address).range() === 'loopback' || machineAddresses().includes(address)
}

/** The addresses of this machine, as {@link isPushAddress} compares them. */
export function machineAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flat()
    .flatMap((each) => (each ? [ipaddr.process(each.address).toString()] : []))
}
