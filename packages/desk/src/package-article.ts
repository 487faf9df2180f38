import type { PackageResource } from '@agent-exchange/protocol'
import { ExchangeError } from '@agent-exchange/sdk'
import { modelUseWords, stateWords, titleOf } from '@agent-exchange/sdk/internal'
import {
  badge,
  buttonLink,
  confirmation,
  form,
  html,
  identifier,
  visible,
  type Html,
} from '@agent-exchange/web'
import type { DeskPlace, ReadPackage } from './desk-agent.ts'
import { pathTo, type DeskCall } from './desk-call.ts'
import { hasOneOf } from './desk-person.ts'
import { EVIDENCE_TEXTS, PACKAGE_TEXTS as T, TEXTS } from './texts/story-texts.ts'
import { PLACE_TEXTS } from './texts/page-texts.ts'
import { objectView, rawView } from './object-view.ts'
import { day, second } from './shown-times.ts'

/** A package of a thread with what this agent may see of it. */
export interface ShownPackage {
  readonly resource: PackageResource
  /** `none` if it waits to be opened; an error if it cannot be. */
  readonly content: ReadPackage | ExchangeError | 'unopened' | 'colleague'
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
    return { resource, content: await agent.readInFull(packageId) }
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
      ${isOurs ? badge('neutral', T.sentByUs) : badge('info', T.fromOther)}
      <span><bdi>${metadata.sender_agent_id}</bdi> ${TEXTS.of} <bdi>${metadata.sender_org_id}</bdi></span>
      <span class="quiet">${second(created_at)}</span>
      ${badge(state === 'revoked' ? 'bad' : 'neutral', stateWords(state))}
    </p>
    <h2>${isOpen ? titleOf(content.object) : T.sealed}</h2>
    ${isOpen ? openView(call, resource, content) : closedView(call, content, packageId)}
    <p class="quiet">
      ${identifier(packageId)}
      ${
        metadata.responds_to_package_id !== undefined &&
        html`<br />${T.respondsTo}
          <a href="#${metadata.responds_to_package_id}"
            ><bdi class="id">${metadata.responds_to_package_id}</bdi></a
          >`
      }
    </p>
    ${actions(call, resource, { isOurs, isOpen })}
  </article>`
}

function openView(
  call: DeskCall,
  { metadata, package_id: packageId }: PackageResource,
  read: ReadPackage,
): Html {
  const { object, signedByKey, writtenBy, approval } = read
  const isPassedOn =
    writtenBy !== undefined &&
    (writtenBy.organizationId !== metadata.sender_org_id || writtenBy.agentId !== metadata.sender_agent_id)
  const isRaw = call.query.has('raw')
  return html`<p class="quiet">
      ${signedByKey === undefined ? T.ownCopy : html`${T.verifiedWith} <bdi class="id">${signedByKey}</bdi>.`}
      ${
        isPassedOn &&
        html`${TEXTS.writtenBy} <bdi>${writtenBy.agentId}</bdi> ${TEXTS.of}
          <bdi>${writtenBy.organizationId}</bdi>, ${TEXTS.asObjectSays}. `
      }
      ${approval && (approval.required ? T.humanApproval(approval.outcome ?? '') : T.noHumanApproval)}
    </p>
    ${handlingPart(call.agent.place, read)} ${objectView(object)}
    ${
      isRaw
        ? html`${rawView(T.rawObject, object)} ${rawView(T.rawMetadata, metadata)}`
        : html`<p><a href="${pathTo('packages', packageId)}?raw">${T.raw}</a></p>`
    }`
}

/** What the sender asks for, and when this host deletes its copy. */
function handlingPart(place: DeskPlace, { object, keptUntil, modelUse }: ReadPackage): Html | undefined {
  const boundaries = object.object_type === 'reasoning_package' ? object.boundaries : undefined
  const level = 'boundaries' in object ? object.boundaries : undefined
  const rows: readonly Html[] = [
    ...(boundaries
      ? [
          html`${T.retention(boundaries.retention_days)}`,
          html`${boundaries.forwarding_allowed ? T.forwardingAllowed : T.forwardingNotAllowed}`,
        ]
      : []),
    ...(level && 'disclosure_level' in level
      ? [
          html`${T.disclosureLevel}: <q><bdi>${visible(level.disclosure_level)}</bdi></q
            >.`,
        ]
      : []),
    ...(modelUse ? [html`${T.modelUse(modelUseWords(modelUse))}`] : []),
    ...(keptUntil === undefined
      ? []
      : [html`<strong>${PLACE_TEXTS[place].deletes}</strong> ${day(keptUntil)}.`]),
  ]
  if (rows.length === 0) return undefined
  return html`<section class="handling">
    <h3>${T.handling}</h3>
    <ul>
      ${rows.map((row) => html`<li>${row}</li>`)}
    </ul>
  </section>`
}

function closedView(call: DeskCall, content: ShownPackage['content'], packageId: string): Html {
  if (content === 'colleague') return html`<p>${T.forColleague}</p>`
  if (content instanceof ExchangeError)
    return html`<p>
      <strong>${T.notShown}</strong> ${content.message} <span class="quiet">(${content.code})</span>
    </p>`
  if (!hasOneOf(call.person, ['planner'])) return html`<p>${T.unopened}</p>`
  return html`<p>${T.unopened} ${TEXTS.openExplanation}</p>
    ${form({
      id: `open-${packageId}`,
      action: pathTo('packages', packageId, '/open'),
      csrfToken: call.csrfToken,
      fields: [],
      submit: { label: TEXTS.openAndReceipt },
    })}`
}

function actions(
  call: DeskCall,
  { package_id: packageId, metadata, state }: PackageResource,
  { isOurs, isOpen }: { readonly isOurs: boolean; readonly isOpen: boolean },
): Html {
  const isForUs = metadata.recipient_agent_id === call.agent.identity.agentId
  const isPlanner = hasOneOf(call.person, ['planner'])
  return html`<div class="actions">
    ${isPlanner && isForUs && isOpen && buttonLink(pathTo('packages', packageId, '/answer/free'), TEXTS.answer, 'primary')}
    ${buttonLink(pathTo('evidence', packageId), EVIDENCE_TEXTS.title)}
    ${isPlanner && isOurs && REVOCABLE.has(state) && revocation(call, packageId)}
  </div>`
}

function revocation({ csrfToken }: DeskCall, packageId: string): Html {
  return confirmation({
    summary: T.revoke,
    explanation: T.revokeExplanation,
    form: {
      id: `revoke-${packageId}`,
      action: pathTo('packages', packageId, '/revoke'),
      csrfToken,
      fields: [
        {
          kind: 'select',
          name: 'reason_code',
          label: T.reason,
          isRequired: true,
          options: Object.entries(T.revokeReasons).map(([value, label]) => ({ value, label })),
        },
        { kind: 'text', name: 'reason_detail', label: T.detail, isRequired: true, maxLength: 200 },
      ],
      submit: { label: T.revokeNow },
    },
  })
}
