import type { EvidenceReport } from '../evidence/evidence-report.ts'
import { SIGNATURE_CODES } from '../verdict/check-codes.ts'
import type { Check } from '../verdict/check.ts'
import { checkDetail, checkText, wordText } from './check-text.ts'

/** The verdict over evidence without a log, for a reader who is no engineer. */
export function evidenceSummary(report: EvidenceReport): string {
  const { verdict, checks } = report
  if (verdict === 'broken') {
    const faults = checks.filter(({ result }) => result === 'fails')
    return `The evidence is broken. ${quoted(faults)}.`
  }
  const doubts = checks.filter(({ result }) => result === 'doubt')
  const holds =
    verdict === 'holds'
      ? 'The evidence holds.'
      : `The evidence is doubtful: it fits together, and a person should look at ${quoted(doubts)}.`
  return [holds, ofSignatures(report), ofStates(report), ofTheExchange(report)].join(' ')
}

/** The first in words, the rest as a number. */
function quoted([first, ...more]: readonly Check[]): string {
  if (!first) return ''
  const detail = checkDetail(first)
  const count = more.length === 0 ? '' : `, and ${more.length} more`
  return `“${checkText(first)}”${detail === '' ? '' : ` (${detail})`}${count}`
}

function ofSignatures({ checks }: EvidenceReport): string {
  const signers = checks.flatMap(({ code, result, agent_id = '' }) => {
    if (!SIGNATURE_CODES.has(code) || result === 'fails' || result === 'unproved') return []
    return [code === 'acceptance_signature' ? 'the exchange itself' : agent_id]
  })
  const counts = counted(signers).map(([agent, count]) => `${count} of ${agent}`)
  return counts.length === 0 ? 'No signature was verified.' : `Signatures that hold: ${counts.join(', ')}.`
}

/** How far signatures prove each package, and where the exchange says more. */
function ofStates({ states }: EvidenceReport): string {
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

function ofTheExchange({ exchangeWord }: EvidenceReport): string {
  const counts = counted(exchangeWord.map(wordText)).map(([what, count]) => `${what} (${count})`)
  return counts.length === 0
    ? 'Nothing rests on the exchange’s word alone.'
    : `Only the exchange says: ${counts.join('; ')}.`
}

function counted(names: readonly string[]): [name: string, count: number][] {
  return [...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length])
}
