import type { EvidenceReport } from './evidence-report.ts'

/** The one statement that the exchange signs, as its agent. */
export const ACCEPTANCE = 'the platform signed its acceptance'

type Findings = Pick<EvidenceReport, 'verdict' | 'checks' | 'exchangeWord' | 'states'>

/** The verdict for a reader who is no engineer. */
export function summarize(findings: Findings): string {
  const { verdict, checks } = findings
  if (verdict === 'broken') {
    const faults = checks.filter(({ ok }) => !ok)
    return `The evidence is broken. This does not hold: ${quoted(faults)}.`
  }
  const doubts = checks.filter(({ doubt }) => doubt)
  const holds =
    verdict === 'holds'
      ? 'The evidence holds.'
      : `The evidence is doubtful: it fits together, and a person should look at ${quoted(doubts)}.`
  return [holds, ofSignatures(findings), ofStates(findings), ofTheExchange(findings)].join(' ')
}

/** The first in words, the rest as a number. */
function quoted([first, ...more]: EvidenceReport['checks']): string {
  const count = more.length === 0 ? '' : `, and ${more.length} more`
  return first ? `“${first.what}” (${first.detail})${count}` : ''
}

function ofSignatures({ checks }: Findings): string {
  const signers = checks.flatMap(({ ok, what, signedBy }) =>
    ok && signedBy ? [what === ACCEPTANCE ? 'the exchange itself' : signedBy.agentId] : [],
  )
  const counts = counted(signers).map(([agent, count]) => `${count} of ${agent}`)
  return counts.length === 0 ? 'No signature was verified.' : `Signatures that hold: ${counts.join(', ')}.`
}

/** How far signatures prove each package, and where the exchange says more. */
function ofStates({ states }: Findings): string {
  const proved = stateCounts(states.map(({ signedState }) => signedState ?? 'no state'))
  const claimed = states.filter(({ state, signedState }) => state !== signedState)
  const beyond = stateCounts(claimed.map(({ state }) => state))
  const rest = beyond === '' ? '' : ` The exchange says more of ${claimed.length}: ${beyond}.`
  return `Signatures prove how far each package got: ${proved}.${rest}`
}

function stateCounts(states: readonly string[]): string {
  return counted(states)
    .map(([state, count]) => `${count} ${state.replaceAll('_', ' ')}`)
    .join(', ')
}

function ofTheExchange({ exchangeWord }: Findings): string {
  const counts = counted(exchangeWord.map(({ what }) => what)).map(([what, count]) => `${what} (${count})`)
  return counts.length === 0
    ? 'Nothing rests on the exchange’s word alone.'
    : `Only the exchange says: ${counts.join('; ')}.`
}

function counted(names: readonly string[]): [name: string, count: number][] {
  return [...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length])
}
