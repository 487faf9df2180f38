import type { PolicyEnvelope } from '@agent-exchange/protocol'
import type { OpenProgress } from '@agent-exchange/sdk'
import type { Company } from './company.ts'
import type { Transport } from './stage.ts'
import { short, type Timeline } from './timeline.ts'

/** The same object under a policy of its sender. */
export function under<T extends { readonly policy_envelope: object }>(
  object: T,
  { policy_id, purpose }: PolicyEnvelope,
): T {
  return { ...object, policy_envelope: { ...object.policy_envelope, policy_id, purpose } }
}

const STEPS = {
  validated: 'checks the object against its schema',
  checked: 'evaluates five policy checks',
  sealed: 'seals for both sides and signs',
  published: 'offers the sealed bytes through its connector',
  receipt_accepted: 'hands in the signed policy receipt',
  accepted: 'hands in the package: accepted, durable',
} as const

/** Shows each step of sending; what reaches the exchange is drawn as an arrow. */
export function stepsOf({ lane }: Company, timeline: Timeline) {
  return ({ step, packageId }: { readonly step: string; readonly packageId: string }): void => {
    if (!(step in STEPS)) return
    const isSent = step === 'accepted' || step === 'receipt_accepted'
    timeline.add({
      who: lane,
      ...(isSent && { to: 'exchange' as const }),
      kind: step === 'published' ? 'transfer' : 'package',
      what: STEPS[step as keyof typeof STEPS],
      detail: short(packageId),
    })
  }
}

/** Shows each step of opening. */
export function openingOf({ lane: who }: Company, timeline: Timeline, transport: Transport) {
  return (progress: OpenProgress): void => {
    if (progress.step === 'fetched') {
      // In ds_x the bytes came from the other connector, which has shown them already.
      const bytes = { kind: 'package', what: 'the sealed bytes', detail: short(progress.packageId) } as const
      if (transport === 'native') timeline.add({ who: 'exchange', to: who, ...bytes })
    } else if (progress.step === 'opened') {
      const detail = `signed by ${short(progress.keyId)}`
      timeline.add({ who, kind: 'package', what: `verifies and opens a ${progress.objectType}`, detail })
    } else {
      const { state, signature } = progress.receipt
      const detail = `${short(progress.packageId)}  by ${short(signature.key_id)}`
      timeline.add({ who, to: 'exchange', kind: 'receipt', what: `signed receipt: ${state}`, detail })
    }
  }
}
