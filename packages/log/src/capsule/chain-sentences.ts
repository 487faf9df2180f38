import type { CapsuleFindings } from './capsule-result.ts'
import type { ChainCheck, ChainCheckCode } from './chain-check.ts'

type Sentence = (check: ChainCheck) => string

const ofPackage: (text: string) => Sentence =
  (text) =>
  ({ package_id }) =>
    `${text} (${package_id}).`
const ofEntry: (text: string) => Sentence =
  (text) =>
  ({ package_id, position }) =>
    `${text} (entry ${position} of ${package_id}).`
const ofKey: (text: string) => Sentence =
  (text) =>
  ({ agent_id, key_id }) =>
    `${text} (${key_id === undefined ? agent_id : `${key_id} of ${agent_id}`}).`
const ofLog: (text: string) => Sentence = (text) => () => text

/** What it means that a check does not hold. */
const FAULTS: Readonly<Record<ChainCheckCode, Sentence>> = {
  log_checkpoint: ofLog('The log key of the capsule did not sign its checkpoint.'),
  log_history: ofLog('An earlier checkpoint of the log does not lead to this one.'),
  package_thread: ofPackage('A package is of another thread, or is shown twice'),
  package_order: ofPackage('Packages are not in the order of the log'),
  chain_positions: ofEntry('An entry is missing or out of place'),
  chain_visibility: ofEntry('An entry is hidden that both parties may see'),
  chain_body: ofEntry('An entry has no form that can be hashed'),
  metadata_digest: ofPackage('The metadata are not those that the exchange accepted'),
  record_positions: ofEntry('A record is missing, or covers other entries'),
  record_leaf: ofEntry('The log does not hold the record as the capsule shows it'),
  record_order: ofEntry('The log holds records in another order'),
  record_missing: ofEntry('No leaf of the log is shown from here on'),
  head_subject: ofPackage('The statement about the end of the chain is about something else'),
  head_signature: ofPackage('The exchange did not sign the statement about the end of the chain'),
  head_link: ofEntry('The exchange stated another end of the chain'),
  head_false: ofEntry('The exchange denied an entry that its log held'),
  key_event_leaf: ofKey('The log does not hold a key event as the capsule shows it'),
  key_event_numbers: ofKey('A key event is missing, shown twice, or out of order'),
  key_bound: ofKey('A key is not the one that was registered in the log'),
}

/** Takes the checks of the structure over into the findings. */
export function takeChains(checks: readonly ChainCheck[], findings: CapsuleFindings): void {
  for (const check of checks) {
    const { code, result, package_id: packageId, position, values } = check
    const about = {
      ...(packageId !== undefined && { packageId }),
      ...(position !== undefined && { position }),
    }
    const detail =
      values &&
      Object.entries(values)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ')
    if (result === 'fails') findings.fail(code, FAULTS[code](check), about)
    else if (result === 'unproved')
      findings.leaveToExchange(
        `whether all entries of ${packageId} from ${position} on are in the log`,
        'The capsule holds no proof of it. Collect the capsule again once the log has caught up.',
        about,
      )
    else findings.hold(code, detail, about)
  }
}
