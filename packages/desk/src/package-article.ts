import type { PackageResource } from '@agent-exchange/protocol'
import { ExchangeError, type OpenedPackage } from '@agent-exchange/sdk'
import { titleOf } from '@agent-exchange/sdk/internal'
import { badge, buttonLink, confirmation, form, html, identifier, type Html } from '@agent-exchange/web'
import { pathTo, type DeskCall } from './desk-call.ts'
import { objectView, rawView } from './object-view.ts'
import { second } from './shown-times.ts'

/** A package of a thread with what this agent may see of it. */
export interface ShownPackage {
  readonly resource: PackageResource
  /** `none` if it waits to be opened; an error if it cannot be. */
  readonly content: OpenedPackage | ExchangeError | 'unopened' | 'colleague'
}

/** Content that this agent has opened before, or sent itself, is read without a receipt. */
const OPENED: ReadonlySet<string> = new Set(['opened', 'responded'])
const REVOCABLE: ReadonlySet<string> = new Set([
  'accepted',
  'encrypted_available',
  'transfer_started',
  'delivered',
  'received',
])

export async function shownPackage({ agent }: DeskCall, resource: PackageResource): Promise<ShownPackage> {
  const { metadata, package_id: packageId, state } = resource
  const { agentId } = agent.identity
  if (metadata.recipient_agent_id !== agentId && metadata.sender_agent_id !== agentId)
    return { resource, content: 'colleague' }
  if (metadata.sender_agent_id !== agentId && !OPENED.has(state)) return { resource, content: 'unopened' }
  try {
    return { resource, content: await agent.open(packageId, { receipts: 'none' }) }
  } catch (error) {
    if (error instanceof ExchangeError) return { resource, content: error }
    throw error
  }
}

/** One package of the conversation. Its origin comes first. */
export function packageArticle(call: DeskCall, { resource, content }: ShownPackage): Html {
  const { metadata, package_id: packageId, state, created_at } = resource
  const isOurs = metadata.sender_org_id === call.agent.identity.organizationId
  const isOpen = typeof content === 'object' && !(content instanceof ExchangeError)
  return html`<article class="package ${isOurs ? 'ours' : 'theirs'}" id="${packageId}">
    <p class="origin">
      ${isOurs ? badge('neutral', 'Sent by us') : badge('info', 'From the other company')}
      <span><bdi>${metadata.sender_agent_id}</bdi> of <bdi>${metadata.sender_org_id}</bdi></span>
      <span class="quiet">${second(created_at)}</span>
      ${badge(state === 'revoked' ? 'bad' : 'neutral', state.replaceAll('_', ' '))}
    </p>
    <h2>${isOpen ? titleOf(content.object) : 'Sealed package'}</h2>
    ${isOpen ? openView(content) : closedView(call, content, packageId)}
    <p class="quiet">
      ${identifier(packageId)}
      ${
        metadata.responds_to_package_id !== undefined &&
        html`<br />Responds to
          <a href="#${metadata.responds_to_package_id}"
            ><bdi class="id">${metadata.responds_to_package_id}</bdi></a
          >`
      }
    </p>
    ${actions(call, resource, { isOurs, isOpen })}
  </article>`
}

function openView(opened: OpenedPackage): Html {
  const { object, senderKey, metadata, policyReceipt, writtenBy, sentBy } = opened
  const { human_approval: approval } = policyReceipt.receipt
  const isPassedOn =
    writtenBy.organizationId !== sentBy.organizationId || writtenBy.agentId !== sentBy.agentId
  return html`<p class="quiet">
      Signature verified with key <bdi class="id">${senderKey.keyId}</bdi>.
      ${
        isPassedOn &&
        html`Written by <bdi>${writtenBy.agentId}</bdi> of <bdi>${writtenBy.organizationId}</bdi>, as the
          object itself says. `
      }
      ${approval.required ? `The sender recorded a human approval (${approval.outcome ?? ''}).` : 'No human approval was required.'}
    </p>
    ${objectView(object)} ${rawView('Raw object', object)} ${rawView('Raw metadata', metadata)}`
}

function closedView(call: DeskCall, content: ShownPackage['content'], packageId: string): Html {
  if (content === 'colleague') return html`<p>It is addressed to another agent of this organization.</p>`
  if (content instanceof ExchangeError)
    return html`<p>
      <strong>It cannot be shown.</strong> ${content.message} <span class="quiet">(${content.code})</span>
    </p>`
  return html`<p>Nobody has opened it yet. Opening it sends signed receipts to the sender.</p>
    ${form({
      id: `open-${packageId}`,
      action: pathTo('packages', packageId, '/open'),
      csrfToken: call.csrfToken,
      fields: [],
      submit: { label: 'Open and send receipts' },
    })}`
}

function actions(
  call: DeskCall,
  { package_id: packageId, metadata, state }: PackageResource,
  { isOurs, isOpen }: { readonly isOurs: boolean; readonly isOpen: boolean },
): Html {
  const isForUs = metadata.recipient_agent_id === call.agent.identity.agentId
  return html`<div class="actions">
    ${isForUs && isOpen && buttonLink(pathTo('packages', packageId, '/answer/free'), 'Answer', 'primary')}
    ${buttonLink(pathTo('evidence', packageId), 'Evidence')}
    ${isOurs && REVOCABLE.has(state) && revocation(call, packageId)}
  </div>`
}

function revocation({ csrfToken }: DeskCall, packageId: string): Html {
  const reasons = ['superseded', 'sent_in_error', 'no_longer_valid']
  return confirmation({
    summary: 'Revoke…',
    explanation:
      'The recipient can no longer fetch the content. What was opened before cannot be recalled. The recipient can read the reason.',
    form: {
      id: `revoke-${packageId}`,
      action: pathTo('packages', packageId, '/revoke'),
      csrfToken,
      fields: [
        {
          kind: 'select',
          name: 'reason_code',
          label: 'Reason',
          isRequired: true,
          options: reasons.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
        },
        { kind: 'text', name: 'reason_detail', label: 'Detail', isRequired: true, maxLength: 200 },
      ],
      submit: { label: 'Revoke now' },
    },
  })
}
