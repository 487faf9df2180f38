import { canonicalize } from '@agent-exchange/crypto'
import { ExchangeError, type CheckResult, type StoredDraft } from '@agent-exchange/sdk'
import {
  badge,
  definitionList,
  exactTime,
  html,
  identifier,
  notice,
  table,
  type Html,
} from '@agent-exchange/web'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { CHECK_WAIT_MS } from './desk-limits.ts'
import { decisionForm, discardForm, sendForm, type DecisionValues } from './draft-forms.ts'
import { stateBadge } from './draft-table.ts'
import { labelOf, objectView, rawView, shownLines, textOf, titleOf } from './object-view.ts'

/** One draft: for whom, the five checks, exactly what will be sealed, and the decision. */
export async function draftPage(call: DeskCall, values: DecisionValues = {}): Promise<DeskAnswer> {
  const { agent, id } = call
  const signal = AbortSignal.timeout(CHECK_WAIT_MS)
  const evaluated = await agent.drafts.evaluate(id, { signal }).catch(async (error: unknown) => {
    // Without the exchange the draft can be read and declined, and its checks are unknown.
    if (!(error instanceof ExchangeError) || error.code.startsWith('draft_')) throw error
    const draft = await agent.drafts.get(id)
    return { draft, checks: [], warnings: [], passed: false, trouble: error.message }
  })
  const { draft, checks, passed, warnings } = evaluated
  const trouble = 'trouble' in evaluated ? evaluated.trouble : undefined
  return {
    kind: 'page',
    title: `Draft: ${titleOf(draft.object).toLowerCase()}`,
    section: 'drafts',
    ...(values.errors && { status: 422 }),
    main: html`${summary(draft)}
      <h2>Checks of the policy</h2>
      ${trouble !== undefined && notice({ tone: 'warn', title: 'The checks could not be evaluated.', text: trouble })}
      ${checks.length > 0 && checkTable(checks)} ${rawView('Policy of this draft', draft.policy)}
      <h2>What will be sealed</h2>
      ${
        warnings.length > 0 &&
        notice({
          tone: 'warn',
          title: 'Sentences of the template were not replaced.',
          text: warnings.map(({ pointer }) => pointer).join(', '),
        })
      }
      <article class="package ours">${objectView(draft.object)}</article>
      <details>
        <summary>Exactly these bytes are sealed (RFC 8785)</summary>
        <pre class="exact" tabindex="0"><bdi>${shownLines(canonicalize(draft.object))}</bdi></pre>
      </details>
      <p>Digest of the draft: ${identifier(draft.digest)}</p>
      ${decisionPart(call, draft, passed, values)} ${discardForm(call, draft.draftId)}`,
  }
}

function summary(draft: StoredDraft): Html {
  const { recipient, respondsTo, threadId, packageId, skill, expiresAt, createdAt, state } = draft
  return definitionList([
    ['State', stateBadge(state)],
    ['For', html`${identifier(recipient.agentId)} of ${identifier(recipient.organizationId)}`],
    ['Thread', identifier(threadId, pathTo('threads', threadId))],
    ['Package', identifier(packageId)],
    ...(respondsTo === undefined ? [] : ([['Responds to', identifier(respondsTo)]] as const)),
    ['Skill', html`${textOf(skill.id)} ${textOf(skill.version)}`],
    ['Purpose', textOf(draft.policy.purpose)],
    ['Content expires', expiresAt === undefined ? 'as the policy says' : exactTime(new Date(expiresAt))],
    ['Drafted', exactTime(new Date(createdAt))],
  ])
}

function checkTable(checks: readonly CheckResult[]): Html {
  const hasFailures = checks.some(({ passed }) => !passed)
  return table({
    caption: 'The five checks',
    hidesCaption: true,
    columns: [{ title: 'Check' }, { title: 'Result' }, ...(hasFailures ? [{ title: 'What to change' }] : [])],
    rows: checks.map(({ checkId, passed, failures }) => [
      labelOf(checkId),
      passed ? badge('good', 'passed') : badge('bad', 'failed'),
      ...(hasFailures ? [failures.map(failureView)] : []),
    ]),
  })
}

function failureView({ pointer, message }: CheckResult['failures'][number]): Html {
  return html`<p>${textOf(pointer)}: ${textOf(message)}</p>`
}

function decisionPart(call: DeskCall, draft: StoredDraft, passed: boolean, values: DecisionValues): Html {
  const { state, approvalRequired, decision } = draft
  const canSend = passed && (state === 'ready' || state === 'approved')
  return html`<h2>Decision</h2>
    ${
      decision &&
      definitionList([
        ['Decision', `${decision.decision}${state === 'void' ? ', no longer valid' : ''}`],
        ['By', textOf(decision.name)],
        ['Reason', textOf(decision.reason)],
        ['At', exactTime(new Date(decision.decided_at))],
      ])
    }
    ${!approvalRequired && !decision && html`<p>The policy requires no person for this draft.</p>`}
    ${canSend && sendForm(call, draft)} ${state !== 'approved' && decisionForm(call, draft, values)}`
}
