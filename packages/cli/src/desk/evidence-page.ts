import { renderCapsuleText, verifyCapsule, type Capsule } from '@agent-exchange/log'
import { verifyEvidence, type EvidenceBundle } from '@agent-exchange/sdk'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { buttonLink, html, identifier, notice, type Html } from '@agent-exchange/web'
import { withoutLog } from '../agent/capsule-evidence.ts'
import { evidenceLines } from '../agent/evidence-text.ts'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'

/** Evidence of a package or a thread, with the verdict of the offline verifier. */
export async function evidencePage({ agent, id }: DeskCall): Promise<DeskAnswer> {
  const capsule = await collect(agent, id)
  const report = await verifyEvidence(withoutLog(capsule))
  const isBroken = report.verdict === 'broken'
  return {
    kind: 'page',
    title: 'Evidence',
    section: 'overview',
    main: html`<p>${identifier(id)}</p>
      ${notice({ tone: isBroken ? 'bad' : 'good', title: report.summary })}
      <p>${buttonLink(pathTo('evidence', id, '/capsule.json'), 'Download the capsule')}</p>
      <p class="quiet">Anybody can verify the file without this exchange: <code>aex verify FILE</code>.</p>
      <h2>What the signatures prove</h2>
      <pre class="exact" tabindex="0">${evidenceLines(report).join('\n')}</pre>
      ${'log' in capsule && (await logPart(capsule))}`,
  }
}

/** The same evidence as a file. */
export async function capsuleFile({ agent, id }: DeskCall): Promise<DeskAnswer> {
  const body = `${JSON.stringify(await collect(agent, id), undefined, 2)}\n`
  return { kind: 'file', name: 'capsule.json', mediaType: 'application/json', body }
}

async function logPart(capsule: Capsule): Promise<Html> {
  const result = await verifyCapsule(capsule, { require: 'unpinned' })
  return html`<h2>What the transparency log proves</h2>
    ${notice({ tone: result.outcome === 'contradiction' ? 'bad' : 'info', title: result.sentence })}
    <pre class="exact" tabindex="0">${renderCapsuleText(result)}</pre>`
}

/** The log includes new events within a minute. The page does not wait for it. */
async function collect(agent: FolderAgent, id: string): Promise<EvidenceBundle | Capsule> {
  const subject = id.startsWith('thread_') ? { threadId: id } : { packageId: id }
  return (await agent.capsule(subject, { waitMs: 0 })).capsule
}
