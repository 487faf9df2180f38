/**
 * Data spaces: the port that `send` and `open` use, an adapter for EDC's management API v3, and the sender's data
 * address. Node only. A connector to develop and test against is in `@agent-exchange/sdk/connectors/simulator`.
 */
export { CONNECTOR_ERROR_CODES, ConnectorError } from './connector-error.ts'
export type { ConnectorCircumstances, ConnectorErrorCode } from './connector-error.ts'
export { openDataAddressFolder } from './data-address-host.ts'
export { startDataAddressServer } from './data-address-server.ts'
export type { DataAddressServer, DataAddressServerOptions } from './data-address-server.ts'
export { examineConnector } from './doctor.ts'
export type { DoctorCheck } from './doctor.ts'
export { EdcV3Connector } from './edc-v3/edc-v3-connector.ts'
export type { EdcV3Options, ManagementAuth } from './edc-v3/edc-v3-options.ts'
export type { DataAddressHost, HostedAddress } from './data-address.ts'
export type * from './port.ts'
export type { ConnectorClock } from './wait-scope.ts'
