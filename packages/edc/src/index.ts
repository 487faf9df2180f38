/**
 * Data-space connectors for `@agent-exchange/sdk`: an adapter for EDC's management API v3, and the data address from
 * which a sender's data plane fetches the sealed bytes. Node only.
 *
 * @packageDocumentation
 */

export type {
  AcquireRequest,
  Acquisition,
  ContractCondition,
  ContractTerms,
  CounterParty,
  DataSpaceConnector,
  FetchOptions,
  Progress,
  ProgressStep,
  PublishedAsset,
  PublishRequest,
  WaitOptions,
  WithdrawalReport,
  WithdrawalStep,
} from '@agent-exchange/sdk'
export { CONNECTOR_ERROR_CODES, ConnectorError } from './connector-error.ts'
export type { ConnectorCircumstances, ConnectorErrorCode } from './connector-error.ts'
export { openDataAddressFolder } from './data-address-host.ts'
export { startDataAddressServer } from './data-address-server.ts'
export type { DataAddressServer, DataAddressServerOptions } from './data-address-server.ts'
export type { DataAddressHost, HostedAddress } from './data-address.ts'
export { EdcV3Connector } from './edc-v3/edc-v3-connector.ts'
export type { EdcV3Options, ManagementAuth } from './edc-v3/edc-v3-options.ts'
export { examineConnector } from './examine-connector.ts'
export type { DoctorCheck } from './examine-connector.ts'
export type * from './inspectable-connector.ts'
export type { ConnectorClock } from './wait-scope.ts'
