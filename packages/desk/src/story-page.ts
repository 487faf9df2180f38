import type { AddressBook } from '@agent-exchange/log'
import { LOOP_PHASES } from '@agent-exchange/protocol'
import { ExchangeError, type DueAnswer, type ThreadStory } from '@agent-exchange/sdk'
import {
  deadlineWords,
  NEWER_UNREAD,
  NO_PHASE,
  PHASE_WORDS,
  SHOWN_WORDS,
  STORY_HEADINGS,
  titleWords,
} from '@agent-exchange/sdk/internal'
import { attributes, buttonLink, form, html, identifier, notice, type Html } from '@agent-exchange/web'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { DISCLOSING_ROLES, hasOneOf } from './desk-person.ts'
import { TEXTS } from './texts/story-texts.ts'
import { evidenceSection } from './evidence-part.ts'
import { conversationPageOf, conversationSection } from './story-conversation.ts'
import {
  comparison,
  confidenceSection,
  handlingSection,
  undisclosedSection,
  versionSection,
} from './story-details.ts'
import { ANSWER_ID, answerSection } from './answer-links.ts'
import { createStoryParts, listSection, shownText, type StoryParts } from './story-parts.ts'
import type { ReadStory } from './story-reader.ts'
import { minute } from './shown-times.ts'
import { factSection, pointSections } from './story-points.ts'

/** The story of a thread: what to do first, then what is decided, agreed, disputed, proposed and open. */
export async function storyPage(call: DeskCall): Promise<DeskAnswer> {
  const read = await call.stories.read(call.id, call.now).catch((error: unknown) => {
    if (error instanceof ExchangeError && error.problem?.code === 'resource_not_found') return undefined
    throw error
  })
  if (!read) return unknownThread(call)
  return storyPageWith(call, read)
}

/** The page of a story, with a form in it where the person answers. */
export async function storyPageWith(
  call: DeskCall,
  { story, resources }: ReadStory,
  { answer, status }: { readonly answer?: Html; readonly status?: number } = {},
): Promise<DeskAnswer> {
  const { agent, now, person, stories, csrfToken } = call
  const verdict = await stories.verdicts.find(story.threadId, resources, now)
  const canDisclose = hasOneOf(person, DISCLOSING_ROLES)
  return {
    kind: 'page',
    title: shownText(titleWords(story.title)),
    section: 'overview',
    ...(status !== undefined && { status }),
    main: storyView(
      story,
      await agent.names(),
      { agentId: agent.identity.agentId, csrfToken, canAnswer: hasOneOf(person, ['planner']) },
      {
        answer,
        evidence: evidenceSection(story, verdict, { csrfToken, canDisclose }),
        conversationPage: conversationPageOf(call.query, story),
      },
    ),
  }
}

/** Who reads the story, and can act. */
interface StoryViewer {
  readonly agentId: string
  readonly csrfToken: string
  /** Others read. */
  readonly canAnswer: boolean
}

interface StoryInserts {
  /** The form of an answer, instead of the links to one. */
  readonly answer?: Html | undefined
  readonly evidence?: Html
  readonly conversationPage?: number
}

export function storyView(
  story: ThreadStory,
  names: AddressBook,
  viewer: StoryViewer,
  { answer, evidence, conversationPage = 0 }: StoryInserts = {},
): Html {
  const parts = createStoryParts(story, names, viewer.canAnswer ? { answeringAgent: viewer.agentId } : {})
  return html`<div class="story">
    ${companies(story, parts)} ${story.hasNewerPackages && html`<p class="said">${NEWER_UNREAD}</p>`}
    ${standing(story, parts)} ${unopened(viewer, story, parts)} ${dueSection(story, parts)}
    ${pointSections(story, parts)} ${comparison('options', story, parts)}
    ${comparison('constraints', story, parts)}
    <div class="story-grid">
      ${factSection(story, parts)} ${confidenceSection(story, parts)} ${versionSection(story, parts)}
      ${undisclosedSection(story, parts)} ${handlingSection(story, parts)}
    </div>
    ${answer ?? answerSection(story, parts)} ${evidence}
    ${conversationSection(story, parts, conversationPage)}
    <p class="quiet">${TEXTS.quotesNote}</p>
    <p>${identifier(story.threadId)}</p>
  </div>`
}

function companies({ companies: found }: ThreadStory, parts: StoryParts): Html {
  return html`<ul class="companies">
    ${found.map(
      ({ organizationId, isReader, roles }) =>
        html`<li class="${isReader ? 'ours' : 'theirs'}">
          <span class="letter" aria-hidden="true"
            >${parts.nameOf(organizationId).replace(/^org_/u, '').slice(0, 1).toUpperCase()}</span
          >
          ${parts.company(organizationId)}
          <span class="quiet"
            >${[...(isReader ? [TEXTS.you] : []), ...roles.map(({ text }) => shownText(text))].join(', ')}</span
          >
        </li>`,
    )}
    <li class="quiet legend">${TEXTS.legend}</li>
  </ul>`
}

/** The nine phases with the stated one marked; without a statement, the one that the packages show. */
function standing({ standing: { stated, shown } }: ThreadStory, parts: StoryParts): Html {
  const [newest] = stated
  return html`<section class="standing">
    <h2 class="unseen">${STORY_HEADINGS.standing}</h2>
    <ol class="phases">
      ${LOOP_PHASES.map((phase) => {
        const current = phase === newest?.phase && 'step'
        const isShown = !newest && phase === shown && 'shown'
        const next = newest?.next.includes(phase) && 'next'
        return html`<li ${attributes({ 'aria-current': current, class: isShown || next })}>
          ${PHASE_WORDS[phase]}
        </li>`
      })}
    </ol>
    ${stated.map(
      ({ phase, next, source }) =>
        html`<p class="said">
          <strong>${PHASE_WORDS[phase]}</strong>, ${TEXTS.statedBy} ${parts.company(source.by.organizationId)}
          ${parts.cite(source)}${next.length > 0 && html`. ${TEXTS.nextPhases}: ${next.map(shownText).join(', ')}`}
        </p>`,
    )}
    ${!newest && html`<p class="said">${NO_PHASE} ${shown && SHOWN_WORDS[shown]}</p>`}
  </section>`
}

/** Packages for this agent that nobody has opened. */
function unopened(viewer: StoryViewer, { conversation }: ThreadStory, parts: StoryParts): Html | undefined {
  const waiting = conversation.filter(
    ({ unreadable, isRevoked, sentTo }) =>
      unreadable?.reason === 'unopened' && !isRevoked && sentTo.agentId === viewer.agentId,
  )
  return listSection(
    TEXTS.unopened,
    waiting,
    ({ packageId, sentBy, at }) =>
      html`${parts.company(sentBy.organizationId)} ${parts.cite({ packageId, by: sentBy, at })}
      ${
        viewer.canAnswer &&
        html`<p class="said">${TEXTS.openExplanation}</p>
          ${form({
            id: `open-${packageId}`,
            action: pathTo('packages', packageId, '/open'),
            csrfToken: viewer.csrfToken,
            fields: [],
            submit: { label: TEXTS.openAndReceipt },
          })}`
      }`,
    'act',
  )
}

/** What the reader is asked for, with the way to the answer, then what others owe. */
function dueSection({ due }: ThreadStory, parts: StoryParts): Html | undefined {
  const ours = due.filter(({ isReaders }) => isReaders)
  return html`${listSection(TEXTS.asked, ours, (each) => askedView(each, parts), 'act')}
  ${listSection(
    TEXTS.answersDueFromOthers,
    due.filter(({ isReaders }) => !isReaders),
    ({ owedBy, request, deadline, source }) =>
      html`${parts.company(owedBy)}: ${parts.quote(request)}
        <p class="said">
          <strong>${deadlineWords(deadline)}</strong>, ${minute(deadline.at)} ${parts.cite(source)}
        </p>`,
  )}`
}

function askedView({ request, deadline, source, packageId }: DueAnswer, parts: StoryParts): Html {
  return html`${parts.quote(request)}
    <p class="said">
      ${parts.company(source.by.organizationId)} ${parts.cite(source)}. ${TEXTS.answerBy}
      ${minute(deadline.at)}: <strong>${deadlineWords(deadline)}</strong>
    </p>
    ${parts.isAnswerable(packageId) && html`<p class="actions">${buttonLink(`#${ANSWER_ID}`, TEXTS.answer, 'primary')}</p>`}`
}

function unknownThread({ id }: DeskCall): DeskAnswer {
  return {
    kind: 'page',
    status: 404,
    title: TEXTS.conversations,
    section: 'overview',
    main: html`<p>${identifier(id)}</p>
      ${notice({ tone: 'info', title: TEXTS.noPackage, text: TEXTS.noPackageText })}`,
  }
}
