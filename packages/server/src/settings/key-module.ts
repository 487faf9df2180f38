import { isAbsolute, resolve } from 'node:path'
import { readNamedFile, SettingError, type SettingsReader } from './settings-reader.ts'

/** A token of a PKCS#11 module that holds private keys of a server. */
export interface KeyModuleConfig {
  readonly module: string
  readonly token: string
  readonly pinFile: string
  /** Another binding than `pkcs11js`, for tests. */
  readonly binding?: string
}

const NAMES = ['AEX_PKCS11_MODULE', 'AEX_PKCS11_TOKEN', 'AEX_PKCS11_PIN_FILE'] as const
/** CKA_LABEL of a token is padded to 32 bytes. */
const MAXIMUM_LABEL_BYTES = 32

/** A half-set group is an error, because keys would be made in the database without a word. */
export function readKeyModule(settings: SettingsReader<(typeof NAMES)[number]>): KeyModuleConfig | undefined {
  const { checked, value, reject } = settings
  if (!NAMES.some((name) => value(name))) return undefined
  for (const name of NAMES) {
    if (!value(name)) reject(name, 'Set it together with the other AEX_PKCS11 variables.')
  }
  const module = checked('AEX_PKCS11_MODULE', (path) => {
    if (!isAbsolute(path)) throw new SettingError('Use the absolute path of the library of the module.')
    return path
  })
  const token = checked('AEX_PKCS11_TOKEN', (label) => {
    if (Buffer.byteLength(label) > MAXIMUM_LABEL_BYTES)
      throw new SettingError(`Use the label of the token, at most ${MAXIMUM_LABEL_BYTES} bytes.`)
    return label
  })
  const pinFile = checked('AEX_PKCS11_PIN_FILE', (path) => {
    if (readNamedFile(path).trim() === '') throw new SettingError(`The file ${path} is empty.`)
    return resolve(path)
  })
  if (module === undefined || token === undefined || pinFile === undefined) return undefined
  return { module, token, pinFile }
}
