import { secretFrom } from '../secret-file.ts'

/** From the file that was named, or from the environment; undefined where the keys have none. */
export function passphraseFrom(file: string | undefined): string | undefined {
  return secretFrom('passphrase', file, 'AEX_AGENT_PASSPHRASE')
}
