export {
  ConfigError,
  masterKeyFile,
  namesSeveralHosts,
  readCertificates,
  readMasterKeyFile,
  SettingError,
  splitCertificates,
  withMasterKey,
  type Environment,
  type InvalidSetting,
} from '@agent-exchange/server/settings'
export { fingerprint, type MasterKeys } from '@agent-exchange/server/master-key'
export * from './config.ts'
export { readDatabasePlace, type DatabasePlace } from './database-place.ts'
export * from './describe-config.ts'
export { readConfig } from './read-config.ts'
export { showConfig } from './show-config.ts'
