import { isReachableHost } from '@agent-exchange/protocol/global-unicast'
import type { ContractCondition } from '@agent-exchange/sdk'
import { requireAddress } from '../connector-addresses.ts'
import { ConnectorError } from '../connector-error.ts'
import type { ConnectorClock } from '../wait-scope.ts'
import type { DataAddressHost } from '../data-address.ts'
import { dispatcherTo } from './dispatcher.ts'
import type { Edc } from './edc.ts'
import { ManagementClient, type HeaderSource } from './management-client.ts'
import { DEFAULT_PROTOCOL } from './vocabulary.ts'

/** Credentials of the management API. A function is called before each request. */
export type ManagementAuth =
  | { readonly apiKey: string }
  | { readonly header: string; readonly value: string | (() => string | Promise<string>) }

export interface EdcV3Options {
  /** The id under which the operator of the exchange approved this connector. */
  readonly connectorId: string
  readonly participantId: string
  /** Up to, not including, `/v3`. */
  readonly managementUrl: string
  readonly auth: ManagementAuth
  /** Required to publish; a recipient needs none. */
  readonly dataAddress?: DataAddressHost
  /** Defaults to `dataspace-protocol-http`. `examineConnector` lists the versions of a connector. */
  readonly protocol?: string
  /** Our protocol endpoint, as others reach it. `examineConnector` runs a transfer through it. */
  readonly protocolEndpoint?: string
  /** Address of the version API, such as `https://edc.acme.example/version/v1/version`. */
  readonly versionUrl?: string
  /**
   * The condition that admits one participant. Defaults to Tractus-X's business partner number. A connector evaluates
   * only conditions for which it has a policy function; `examineConnector` reports whether it does.
   */
  readonly accessCondition?: (recipientParticipantId: string) => ContractCondition
  /**
   * Permits data planes of senders at private and loopback addresses: a data space in a private network, development.
   * Defaults to false, because a sender could make this agent call services of its own network.
   */
  readonly allowPrivateDataPlanes?: boolean
  /** Narrows the data planes of senders further, by their URL. */
  readonly allowDataPlane?: (endpoint: URL) => boolean
  /** A private certificate authority, PEM. */
  readonly ca?: string
  readonly clock?: ConnectorClock
}

const BUSINESS_PARTNER_NUMBER = 'https://w3id.org/tractusx/v0.0.1/ns/BusinessPartnerNumber'

export function createEdc(options: EdcV3Options): Edc {
  const { connectorId, participantId, dataAddress, protocol = DEFAULT_PROTOCOL, ca } = options
  const managementUrl = requireAddress(options.managementUrl, 'managementUrl')
  const { allowPrivateDataPlanes: allowPrivate = false, allowDataPlane = () => true } = options
  const dispatcher = dispatcherTo({ ca })
  return {
    client: new ManagementClient(managementUrl, headersOf(options.auth), dispatcher),
    dispatcher,
    dataPlanes: allowPrivate ? dispatcher : dispatcherTo({ ca, publicOnly: true }),
    connectorId,
    participantId,
    protocol,
    dataAddress,
    protocolEndpoint: address(options.protocolEndpoint, 'protocolEndpoint'),
    versionUrl: address(options.versionUrl, 'versionUrl'),
    accessCondition: options.accessCondition ?? businessPartner,
    allowDataPlane: (url) => (allowPrivate || isReachableHost(url.hostname)) && allowDataPlane(url),
  }
}

function businessPartner(recipientParticipantId: string): ContractCondition {
  return { property: BUSINESS_PARTNER_NUMBER, operator: 'eq', value: recipientParticipantId }
}

function address(text: string | undefined, name: string): URL | undefined {
  return text === undefined ? undefined : requireAddress(text, name)
}

function headersOf(auth: ManagementAuth): HeaderSource {
  const [header, value] = 'apiKey' in auth ? ['x-api-key', auth.apiKey] : [auth.header, auth.value]
  if (!/^[\w-]+$/u.test(header))
    throw new ConnectorError('invalid_input', { what: 'auth.header is not a header name.' })
  return async () => ({ [header]: typeof value === 'function' ? await value() : value })
}
