export * from './config-error.ts'
export { readKeyModule, type KeyModuleConfig } from './key-module.ts'
export * from './listener-addresses.ts'
export { masterKeyFile, withMasterKey } from './master-key-place.ts'
export { readMasterKeyFile } from './master-key-text.ts'
export * from './parse-values.ts'
export {
  readCertificates,
  readKeyPair,
  readTlsFiles,
  splitCertificates,
  type TlsConfig,
  type TlsFiles,
} from './pem-files.ts'
export { readMasterKeys, type MasterKeySettings } from './read-master-keys.ts'
export * from './settings-reader.ts'
export { TRACING_VARIABLES } from './tracing-variables.ts'
export { readTracing, type TracingConfig } from './tracing.ts'
export * from './urls.ts'
