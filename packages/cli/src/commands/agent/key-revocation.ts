import type { KeyRevocation } from '@agent-exchange/sdk'
import type { Command } from 'commander'
import { timeOption } from '../operator/time-option.ts'

export interface RevocationOptions {
  readonly invalidFrom: string
  readonly reasonCode: string
  readonly evidence: string
}

/** What a revocation of a key needs, in a folder and in a gateway. */
export const withRevocationOptions = (command: Command): Command =>
  command
    .addOption(
      timeOption(
        '--invalid-from <time>',
        'signatures from this time on are not trusted: a UTC time, a day, or 30m, 24h, 7d ago',
      ).makeOptionMandatory(),
    )
    .requiredOption('--reason-code <code>', 'a code such as compromise or superseded')
    .requiredOption('--evidence <reference>', 'reference to the incident record; no business facts')

export const revocationOf = ({ invalidFrom, reasonCode, evidence }: RevocationOptions): KeyRevocation => ({
  invalidFrom: new Date(invalidFrom),
  reasonCode,
  evidenceReference: evidence,
})
