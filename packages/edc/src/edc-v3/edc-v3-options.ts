import { isLoopback, isThisMachine, requireAddress } from '../connector-addresses.ts'
import { ConnectorError } from '../connector-error.ts'
import type { ContractCondition } from '@agent-exchange/sdk'
import type { ConnectorClock } from '../wait-scope.ts'
import type { DataAddressHost } from '../data-address.ts'
import { dispatcherTo } from './dispatcher.ts'
import type { Edc } from './edc.ts'
import { ManagementClient, type HeaderSource } from './management-client.ts'
import { DEFAULT_PROTOCOL } from './vocabulary.ts'

/** How the management API knows us. A function is asked before each request, for values that change. */
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
  /** Needed to publish; a recipient does without. */
  readonly dataAddress?: DataAddressHost
  /** `dataspace-protocol-http` unless told; the doctor lists what a connector speaks. */
  readonly protocol?: string
  /** Our own protocol endpoint, as others reach it. The doctor runs a transfer through it. */
  readonly protocolEndpoint?: string
  /** Where the version API answers, such as `https://edc.acme.example/version/v1/version`. */
  readonly versionUrl?: string
  /**
   * The condition that admits one participant. What a connector evaluates depends on the policy functions it was
   * built with; one it does not know it ignores. The doctor tells. Tractus-X's business partner number unless told.
   */
  readonly accessCondition?: (recipientParticipantId: string) => ContractCondition
  /** Which data planes of senders may be called. Any https address that is not this machine, unless told. */
  readonly allowDataPlane?: (endpoint: URL) => boolean
  /** A private certificate authority, PEM. */
  readonly ca?: string
  readonly clock?: ConnectorClock
}

const BUSINESS_PARTNER_NUMBER = 'https://w3id.org/tractusx/v0.0.1/ns/BusinessPartnerNumber'

export function createEdc(options: EdcV3Options): Edc {
  const { connectorId, participantId, dataAddress, protocol = DEFAULT_PROTOCOL, ca } = options
  const managementUrl = requireAddress(options.managementUrl, 'managementUrl')
  // Everything on one machine is development; otherwise a sender could point us at our own services.
  const local = isLoopback(managementUrl.hostname)
  const dispatcher = dispatcherTo({ ca })
  return {
    client: new ManagementClient(managementUrl, headersOf(options.auth), dispatcher),
    dispatcher,
    dataPlanes: options.allowDataPlane || local ? dispatcher : dispatcherTo({ ca, elsewhere: true }),
    connectorId,
    participantId,
    protocol,
    dataAddress,
    protocolEndpoint: address(options.protocolEndpoint, 'protocolEndpoint'),
    versionUrl: address(options.versionUrl, 'versionUrl'),
    accessCondition: options.accessCondition ?? businessPartner,
    allowDataPlane: options.allowDataPlane ?? ((endpoint) => local || !isThisMachine(endpoint.hostname)),
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
