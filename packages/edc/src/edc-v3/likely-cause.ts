/**
 * Connectors often stop without an error. The most frequent cause of a stuck state, observed at EDC runtimes.
 */
const STUCK: Readonly<Record<string, string>> = {
  INITIAL: 'Likely our connector’s state machine is not running, or is overloaded.',
  REQUESTING:
    'Likely our connector does not reach the other’s protocol endpoint: check the address, its TLS and the firewall.',
  REQUESTED:
    'Likely the other connector cannot call ours back, or the participant id is not the one behind that endpoint: check our public callback address and the id.',
  AGREED: 'Likely our connector cannot reach the other to verify the agreement.',
  VERIFYING: 'Likely our connector cannot reach the other to verify the agreement.',
  VERIFIED: 'Likely the other connector cannot call ours back to finalize.',
  STARTING: 'Likely the other connector has no data plane that is available.',
  SUSPENDED: 'The other side has suspended the transfer.',
}

export function causeOfStandstill(state: string): string {
  return STUCK[state] ?? 'Neither connector says why; look into both logs.'
}

export function causeOfEnd(kind: 'negotiation' | 'transfer', detail: string | undefined): string {
  if (detail === undefined)
    return kind === 'negotiation'
      ? 'The other side ended it without a reason. Likely its policy does not match the offer to the letter, or does not admit this participant.'
      : 'The other side ended it without a reason. Likely the sender withdrew, or its data plane could not start.'
  if (/\b404\b|not found/iu.test(detail)) return 'Likely the offer was withdrawn in the meantime.'
  if (/policy|constraint/iu.test(detail)) return 'Likely the policy does not match the offer to the letter.'
  if (/identity|credential|token|unauthori[sz]ed|\b40[13]\b/iu.test(detail))
    return 'Likely one side does not accept the other’s credentials or participant id.'
  if (/connect|timeout|resolve|unreachable|refused/iu.test(detail))
    return 'Likely one connector does not reach the other.'
  if (/data ?plane|data ?flow/iu.test(detail)) return 'Likely the sender has no data plane that is available.'
  return 'The detail is the connector’s own.'
}
