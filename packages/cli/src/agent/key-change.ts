import type { KeyChange } from '@agent-exchange/sdk'
import { visible } from '../visible.ts'
import { nextStep, type Place } from './next-step.ts'

/** The key change in an error. */
export function changeOf(detail: unknown): KeyChange | undefined {
  const isChange = typeof detail === 'object' && detail !== null && 'offered' in detail && 'pinned' in detail
  return isChange ? (detail as KeyChange) : undefined
}

/** Known and offered keys of an agent, and what to do. */
export function linesOfChange({ agentId, pinned, offered }: KeyChange, place: Place): string[] {
  const known = pinned.filter(({ use }) => use === offered.use)
  const name = visible(agentId)
  return [
    `The ${offered.use} key of ${name} has changed, and no key that you know introduced the new one.`,
    ...(known.length === 0
      ? ['  known    none']
      : known.map(({ fingerprint }) => `  known    ${fingerprint}`)),
    `  offered  ${offered.fingerprint}`,
    'Compare it with the owner of the agent over another channel. If it is theirs:',
    `  ${nextStep(place, 'trust', name, offered.fingerprint)}`,
  ]
}
