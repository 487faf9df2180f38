import type { EvidenceReport } from './evidence-report.ts'

type Findings = Pick<EvidenceReport, 'verdict' | 'checks' | 'exchangeWord' | 'states'>

/** The verdict for a reader who is no engineer. */
export function summarize(findings: Findings): string {
  if (findings.verdict === 'broken') return `The evidence is broken: ${faults(findings)}`
  const holds =
    findings.verdict === 'holds' ? 'The evidence holds.' : `The evidence is doubtful: ${doubts(findings)}`
  return [holds, ofSignatures(findings), ofStates(findings), ofTheExchange(findings)].join(' ')
}

function faults({ checks }: Findings): string {
  return first(checks.filter(({ ok }) => !ok))
}

function doubts({ checks }: Findings): string {
  return first(checks.filter(({ doubt }) => doubt))
}

function first(checks: EvidenceReport['checks']): string {
  const [one, ...more] = checks
  const count = more.length === 0 ? '' : ` (and ${more.length} more)`
  return one ? `${one.what}: ${one.detail}${count}.` : 'it cannot be read.'
}

function ofSignatures({ checks }: Findings): string {
  const signers = checks.flatMap(({ ok, signedBy }) => (ok && signedBy ? [signedBy.agentId] : []))
  const counts = counted(signers).map(([agent, count]) => `${count} of ${agent}`)
  return counts.length === 0 ? 'No signature was verified.' : `Signatures that hold: ${counts.join(', ')}.`
}

function ofStates({ states }: Findings): string {
  const proved = states.filter(({ state, signedState }) => state === signedState)
  return `Signatures prove the state of ${proved.length} of ${states.length} packages.`
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
