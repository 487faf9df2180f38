/**
 * Private keys in a PKCS#11 module: a hardware security module, a smart card, or SoftHSM. Keys are made there and never
 * come out. The native binding `pkcs11js` is an optional peer dependency.
 *
 * @packageDocumentation
 */

export { isModuleAway, MODULE_ERROR_CODES, ModuleError, type ModuleErrorCode } from './module-error.ts'
export { parseKeyUri } from './key-uri.ts'
export {
  openModule,
  type Ed25519Key,
  type KeyModule,
  type ListedModuleKey,
  type ModuleOptions,
} from './open-module.ts'
export type { CallObserver } from './module-worker-client.ts'
