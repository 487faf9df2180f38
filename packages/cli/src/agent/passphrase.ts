import { secretFrom } from '../secret-file.ts'

/** From the named file or the environment; undefined if the keys have none. */
export function passphraseFrom(file: string | undefined): string | undefined {
  return secretFrom('passphrase', file, 'AEX_AGENT_PASSPHRASE')
}
