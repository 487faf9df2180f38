import { renderCapsuleText, verifyCapsule, visibleText, type Capsule } from '@agent-exchange/log'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import { ExchangeError, verifyEvidence, type EvidenceBundle, type EvidenceReport } from '@agent-exchange/sdk'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { buttonLink, html, identifier, notice, type Html } from '@agent-exchange/web'
import { isCapsule, withoutLog } from '../agent/capsule-evidence.ts'
import { evidenceLines } from '../agent/evidence-text.ts'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'

/** Errors that say that the log is not what it was. Any other one only says that it cannot be read now. */
const LOG_FAULTS: ReadonlySet<string> = new Set(['log_split_view', 'log_rolled_back', 'log_unverifiable'])

interface Collected {
  readonly evidence: EvidenceBundle | Capsule
  /** Why the proofs of the log are missing. */
  readonly logError?: ExchangeError
}

/** Evidence of a package or a thread, with the verdict of the offline verifier. */
export async function evidencePage({ agent, id }: DeskCall): Promise<DeskAnswer> {
  const { evidence, logError } = await collect(agent, id)
  const { profile } = agent.context.deployment
  const report = await verifyEvidence(withoutLog(evidence), { profile })
  return {
    kind: 'page',
    title: 'Evidence',
    section: 'overview',
    main: html`<p>${identifier(id)}</p>
      ${verdict(report)} ${logError && logNotice(logError)}
      <p>${buttonLink(pathTo('evidence', id, '/capsule.json'), 'Download the evidence')}</p>
      <p class="quiet">Anybody can verify the file without this exchange: <code>aex verify FILE</code>.</p>
      <h2>What the signatures prove</h2>
      <pre class="exact" tabindex="0">${evidenceLines(report).join('\n')}</pre>
      ${isCapsule(evidence) && (await logPart(evidence, profile))}`,
  }
}

/** The first sentence of the summary is the verdict. */
function verdict({ verdict: found, summary }: EvidenceReport): Html {
  const [, title = summary, text] = /^(.+?\.) (.+)$/su.exec(summary) ?? []
  return notice({ tone: found === 'broken' ? 'bad' : 'good', title, ...(text !== undefined && { text }) })
}

/** The same evidence as a file. */
export async function capsuleFile({ agent, id }: DeskCall): Promise<DeskAnswer> {
  const { evidence } = await collect(agent, id)
  const body = `${JSON.stringify(evidence, undefined, 2)}\n`
  return { kind: 'file', name: 'capsule.json', mediaType: 'application/json', body }
}

async function logPart(capsule: Capsule, profile: DeploymentProfile): Promise<Html> {
  const result = await verifyCapsule(capsule, { require: 'unpinned', profile })
  return html`<h2>What the transparency log proves</h2>
    ${notice({ tone: result.outcome === 'contradiction' ? 'bad' : 'info', title: visibleText(result.sentence) })}
    <pre class="exact" tabindex="0">${renderCapsuleText(result)}</pre>`
}

function logNotice({ code, message }: ExchangeError): Html {
  return notice({
    tone: LOG_FAULTS.has(code) ? 'bad' : 'warn',
    title: 'Without the proofs of the transparency log.',
    text: `${message} (${code})`,
  })
}

/** The log includes new events within a minute. The page does not wait for it, and shows evidence without it too. */
async function collect(agent: FolderAgent, id: string): Promise<Collected> {
  const subject = id.startsWith('thread_') ? { threadId: id } : { packageId: id }
  try {
    return { evidence: (await agent.earlierCapsule(subject, { waitMs: 0 })).capsule }
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error
    return { evidence: await agent.evidence(subject), logError: error }
  }
}
