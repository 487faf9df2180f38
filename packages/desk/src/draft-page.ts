import { canonicalize } from '@agent-exchange/crypto'
import type { StoredDraft } from '@agent-exchange/sdk'
import { titleOf } from '@agent-exchange/sdk/internal'
import { badge, definitionList, html, identifier, notice, type Html, type Notice } from '@agent-exchange/web'
import { checkTable } from './check-table.ts'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { CHECK_TEXTS, DRAFT_TEXTS as T } from './texts/draft-texts.ts'
import { TEXTS } from './texts/story-texts.ts'
import { hasOneOf, SENDING_ROLES } from './desk-person.ts'
import { decisionForm, discardForm, sendForm, type DecisionValues } from './draft-forms.ts'
import { stateBadge } from './draft-table.ts'
import { passkeyDecisionPart } from './passkey-decision-part.ts'
import { examineDraft, type ExaminedDraft } from './examined-draft.ts'
import { objectView, rawView, shownLines, textOf } from './object-view.ts'
import { second } from './shown-times.ts'

/** One draft: for whom, the five checks, exactly what will be sealed, and the decision. */
export async function draftPage(call: DeskCall, values: DecisionValues = {}): Promise<DeskAnswer> {
  return examinedPage(call, await examineDraft(call.agent, call.id), values)
}

/** The same for a draft whose checks were evaluated already. */
export async function examinedPage(
  call: DeskCall,
  examined: ExaminedDraft,
  values: DecisionValues = {},
): Promise<DeskAnswer> {
  const { draft, checks, warnings, trouble } = examined
  return {
    kind: 'page',
    title: T.draftTitle(titleOf(draft.object).toLowerCase()),
    section: 'drafts',
    ...((values.errors ?? values.isRefused) && { status: 422 }),
    main: html`${summary(examined, await isKnownThread(call, draft))}
      <h2>${CHECK_TEXTS.caption}</h2>
      ${trouble !== undefined && notice({ tone: 'warn', title: CHECK_TEXTS.unknown, text: trouble })}
      ${checks.length > 0 && checkTable(checks)} ${rawView(T.policy, draft.policy)}
      <h2>${T.sealedContent}</h2>
      ${
        warnings.length > 0 &&
        notice({
          tone: 'warn',
          title: T.notReplaced,
          text: warnings.map(({ pointer }) => pointer).join(', '),
        })
      }
      <article class="package ours">${objectView(draft.object)}</article>
      <details>
        <summary>${T.bytes}</summary>
        <pre class="exact" tabindex="0"><bdi>${shownLines(canonicalize(draft.object))}</bdi></pre>
      </details>
      <p>${T.digest} ${identifier(draft.digest)}</p>
      ${await decisionPart(call, examined, values)}
      ${hasOneOf(call.person, ['planner']) && discardForm(call, draft.draftId)}`,
  }
}

/** The exchange has no thread before the first package of it was accepted. */
async function isKnownThread({ agent }: DeskCall, { respondsTo, threadId }: StoredDraft): Promise<boolean> {
  return respondsTo !== undefined || (await agent.isKnownThread(threadId))
}

function summary({ draft, verdict }: ExaminedDraft, isKnown: boolean): Html {
  const { recipient, respondsTo, threadId, packageId, skill, expiresAt, createdAt, state } = draft
  return definitionList([
    [T.state, verdict === 'fails' ? badge('bad', T.cannotBeSent) : stateBadge(state)],
    [T.for, html`${identifier(recipient.agentId)} ${TEXTS.of} ${identifier(recipient.organizationId)}`],
    [
      T.thread,
      isKnown
        ? identifier(threadId, pathTo('threads', threadId))
        : html`${identifier(threadId)} <span class="quiet">${T.noPackageYet}</span>`,
    ],
    [T.package, identifier(packageId)],
    ...(respondsTo === undefined ? [] : ([[T.respondsTo, identifier(respondsTo)]] as const)),
    [T.skill, html`${textOf(skill.id)} ${textOf(skill.version)}`],
    [T.purpose, textOf(draft.policy.purpose)],
    [T.expires, expiresAt === undefined ? T.asPolicySays : second(expiresAt)],
    [T.drafted, second(createdAt)],
  ])
}

async function decisionPart(call: DeskCall, examined: ExaminedDraft, values: DecisionValues): Promise<Html> {
  const { draft, verdict } = examined
  const { state, approvalRequired, decision } = draft
  const canSend = verdict === 'passes' && (state === 'ready' || state === 'approved')
  return html`<h2>${T.decision}</h2>
    ${
      decision &&
      definitionList([
        [T.decision, state === 'void' ? T.noLongerValid(decision.decision) : decision.decision],
        [T.by, textOf(decision.name)],
        [T.reason, textOf(decision.reason)],
        [T.at, second(decision.decided_at)],
      ])
    }
    ${!approvalRequired && !decision && html`<p>${T.nobodyRequired}</p>`}
    ${verdict !== 'passes' && notice(HINDRANCES[verdict])}
    ${canSend && hasOneOf(call.person, SENDING_ROLES) && sendForm(call, draft)}
    ${await decidingPart(call, examined, values)}`
}

/** By passkey at a gateway, by passphrase in a folder. */
async function decidingPart(
  call: DeskCall,
  { draft, verdict }: ExaminedDraft,
  values: DecisionValues,
): Promise<Html | false> {
  const canApprove = verdict === 'passes'
  const { passkeys } = call.agent
  if (passkeys) {
    const state = await passkeys.state(draft)
    const needsMore = canApprove && draft.state !== 'approved'
    return passkeyDecisionPart(call, draft, { state, values, canApprove: needsMore })
  }
  return draft.state !== 'approved' && decisionForm(call, draft, { ...values, canApprove })
}

/** Why a draft cannot be approved or sent, and what the person can do. */
const HINDRANCES = {
  fails: {
    tone: 'bad',
    ...T.fails,
  },
  unknown: {
    tone: 'warn',
    ...T.unknown,
  },
} as const satisfies Readonly<Record<string, Notice>>
