import {
  describeVerdict,
  readerWith,
  renderCapsuleHtml,
  visibleText,
  type ReportSection,
} from '@agent-exchange/log'
import { ExchangeError, type CollectedCapsule } from '@agent-exchange/sdk'
import { html, identifier, notice, type Html } from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'
import type { DeskAnswer, DeskCall } from './desk-call.ts'
import { MAXIMUM_DISCLOSED, SHOWN_EVIDENCE_LINES } from './desk-limits.ts'
import { EVIDENCE_TEXTS as T } from './texts/story-texts.ts'
import { evidenceLinks, verdictView } from './evidence-part.ts'
import { verifiedEvidence } from './verified-evidence.ts'

const CAPSULE_FILE = 'capsule.json'

/** Errors that say that the log is not what it was, or has not been published yet. */
const LOG_FAULTS: ReadonlySet<string> = new Set(['log_split_view', 'log_rolled_back', 'log_unverifiable'])

/** Evidence of a package or a thread, with the verdict of the offline verifier. */
export async function evidencePage({ agent, id }: DeskCall): Promise<DeskAnswer> {
  const collected = await collect(agent, id)
  const main =
    collected instanceof ExchangeError ? logNotice(collected) : await evidencePart(collected, { agent, id })
  return {
    kind: 'page',
    title: T.title,
    section: 'overview',
    main: html`<p>${identifier(id)}</p>
      ${main}`,
  }
}

async function evidencePart(
  { capsule, earlierPackages }: CollectedCapsule,
  { agent, id }: Pick<DeskCall, 'agent' | 'id'>,
): Promise<Html> {
  const result = await verifiedEvidence(agent, capsule)
  const names = await agent.names()
  const { sentence, tone, facts, sections, details } = describeVerdict(result, readerWith(names))
  return html`${verdictView({ word: result.word, tone, sentence })}
    ${earlierPackages > 0 && earlierNotice(id)} ${evidenceLinks(id)}
    <p class="quiet">${T.anybody} <code>aex verify FILE</code></p>
    ${sections.map(
      (section) =>
        html`<h2>${section.title}</h2>
          ${listOf(section)}`,
    )}
    <h2>${T.levelAndKeys}</h2>
    <ul>
      ${facts.map(({ name, value }) => html`<li>${name}: ${visibleText(value)}</li>`)}
    </ul>
    ${details.map(
      (section) =>
        html`<details>
          <summary>${section.title} (${section.items.length})</summary>
          ${listOf(section)}
        </details>`,
    )}`
}

function listOf({ items }: ReportSection): Html {
  const hidden = items.length - SHOWN_EVIDENCE_LINES
  return html`<ul>
      ${items.slice(0, SHOWN_EVIDENCE_LINES).map((item) => html`<li>${visibleText(item)}</li>`)}
    </ul>
    ${hidden > 0 && html`<p class="quiet">${T.more(hidden)}</p>`}`
}

function earlierNotice(id: string): Html {
  return notice({
    tone: 'info',
    title: T.earlier,
    text: T.earlierHow(id),
  })
}

/** The same evidence as a file. */
export async function capsuleFile({ agent, id }: DeskCall): Promise<DeskAnswer> {
  const collected = await collect(agent, id)
  if (collected instanceof ExchangeError) throw collected
  const body = `${JSON.stringify(collected.capsule, undefined, 2)}\n`
  return { kind: 'file', name: CAPSULE_FILE, mediaType: 'application/json', body }
}

/** The verdict as a page that can be printed or sent. It loads nothing. */
export async function reportFile({ agent, id, now }: DeskCall): Promise<DeskAnswer> {
  const collected = await collect(agent, id)
  if (collected instanceof ExchangeError) throw collected
  const result = await verifiedEvidence(agent, collected.capsule)
  const reader = readerWith(await agent.names())
  const body = renderCapsuleHtml(result, { ...reader, verifiedAt: now.toISOString(), file: CAPSULE_FILE })
  return { kind: 'file', name: 'evidence.html', mediaType: 'text/html; charset=utf-8', body }
}

/** The evidence of a thread with the content of the packages that this agent can read. */
export async function disclosingFile({ agent, id, now, stories }: DeskCall): Promise<DeskAnswer> {
  const { story } = await stories.read(id, now)
  const disclose = story.conversation
    .filter(({ unreadable, isRevoked, isExpired }) => !unreadable && !isRevoked && !isExpired)
    .slice(0, MAXIMUM_DISCLOSED)
    .map(({ packageId }) => packageId)
  const { capsule } = await agent.evidence({ threadId: id }, { disclose })
  const body = `${JSON.stringify(capsule, undefined, 2)}\n`
  return { kind: 'file', name: 'capsule-with-content.json', mediaType: 'application/json', body }
}

function logNotice({ code, message }: ExchangeError): Html {
  return notice({
    tone: 'bad',
    title: T.noLog,
    text: `${message} (${code})`,
  })
}

/** The log includes new events within a minute. The page does not wait for it: what is missing rests on signatures alone. */
async function collect(agent: DeskAgent, id: string): Promise<CollectedCapsule | ExchangeError> {
  const subject = id.startsWith('thread_') ? { threadId: id } : { packageId: id }
  try {
    return await agent.evidence(subject)
  } catch (error) {
    if (error instanceof ExchangeError && LOG_FAULTS.has(error.code)) return error
    throw error
  }
}
