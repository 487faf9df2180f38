import type { StoryFact, StoryPoint, ThreadStory } from '@agent-exchange/sdk'
import { deadlineWords, ruleWords, STORY_HEADINGS } from '@agent-exchange/sdk/internal'
import { html, type Html } from '@agent-exchange/web'
import { challengeLink } from './answer-links.ts'
import { SHOWN_ITEMS } from './desk-limits.ts'
import { TEXTS } from './desk-texts.ts'
import { listSection, shownText, type StoryParts } from './story-parts.ts'

const POINT_SECTIONS = ['decided', 'agreed', 'disputed', 'proposed', 'open'] as const
/** Facts, exceptions and challenges of one point. */
const BESIDE = 3

/** What is decided, agreed, disputed, proposed and open. */
export function pointSections(story: ThreadStory, parts: StoryParts): Html {
  return html`<div class="story-grid">
    ${POINT_SECTIONS.map((part) =>
      listSection<StoryPoint>(
        STORY_HEADINGS[part],
        story[part].filter(isInList),
        (point) => pointView(point, parts),
        part,
      ),
    )}
  </div>`
}

/** Options have a table of their own. */
function isInList({ rule }: StoryPoint): boolean {
  return rule !== 'option_provided'
}

function pointView(point: StoryPoint, parts: StoryParts): Html {
  const { text, source, rule, about, exceptions = [], confirmedBy, laterAgreement, deadline } = point
  const who = parts.nameOf(source.by.organizationId)
  return html`${parts.quote(text)}
    <p class="said">
      ${ruleWords(rule, who, parts.recipientOf(source.packageId))} ${parts.cite(source)}
      ${deadline && html`<br /><strong>${deadlineWords(deadline)}</strong>`}
      ${about?.isRevoked && html`<br />${TEXTS.revokedAbout}`}
      ${
        exceptions.length > 0 &&
        html`<br />${TEXTS.exceptions}
          ${exceptions.slice(0, BESIDE).map((each) => html`${parts.quote(each)} `)}`
      }
      ${confirmedBy !== undefined && html`<br />${confirmation(confirmedBy, parts)}`}
      ${laterAgreement && html`<br />${TEXTS.laterAgreement} ${parts.cite(laterAgreement)}`}
    </p>
    ${factsBehind(point, parts)}`
}

function confirmation(confirmedBy: readonly string[], parts: StoryParts): Html {
  if (confirmedBy.length === 0) return html`${TEXTS.notConfirmed}`
  return html`${TEXTS.confirmedBy} ${confirmedBy.slice(0, SHOWN_ITEMS).map(parts.company)}`
}

/** The facts that a challenge names stand beside it. Elsewhere their ids are enough: the facts are listed below. */
function factsBehind({ rule, facts }: StoryPoint, parts: StoryParts): Html | undefined {
  if (facts.length === 0) return undefined
  if (rule === 'point_challenged' || rule === 'fact_contradicted')
    return html`<p class="beside">
      ${facts
        .slice(0, BESIDE)
        .map(
          ({ statement, source }) =>
            html`<span
              >${parts.company(statement.by)} ${TEXTS.statedDifferently} ${parts.quote(statement)}
              ${parts.cite(source)}</span
            >`,
        )}
    </p>`
  return html`<p class="quiet">
    ${STORY_HEADINGS.facts}:
    ${facts.slice(0, SHOWN_ITEMS).map(({ factId }) => html`<bdi class="id">${shownText(factId)}</bdi> `)}
  </p>`
}

/** The facts, each with the challenges that name it. */
export function factSection({ facts }: ThreadStory, parts: StoryParts): Html | undefined {
  return listSection(STORY_HEADINGS.facts, facts, (fact) => factView(fact, parts))
}

function factView({ factId, statement, source, challenges }: StoryFact, parts: StoryParts): Html {
  return html`${parts.quote(statement)}
    <p class="said">
      ${parts.company(statement.by)} <bdi class="id">${shownText(factId)}</bdi> ${parts.cite(source)}
      ${challenges
        .slice(0, BESIDE)
        .map(
          ({ text, source: from }) =>
            html`<br />${TEXTS.challengedBy} ${parts.company(text.by)}: ${parts.quote(text)}
              ${parts.cite(from)}`,
        )}
      ${
        !statement.isReaders &&
        parts.isAnswerable(source.packageId) &&
        html`<br />${challengeLink(source.packageId, factId)}`
      }
    </p>`
}
