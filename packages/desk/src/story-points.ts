import type { StoryFact, StoryPoint, ThreadStory } from '@agent-exchange/sdk'
import { deadlineWords, ruleWords, STORY_HEADINGS } from '@agent-exchange/sdk/internal'
import { badge, html, type Html } from '@agent-exchange/web'
import { challengeLink } from './answer-links.ts'
import { SHOWN_ITEMS } from './desk-limits.ts'
import { TEXTS } from './texts/story-texts.ts'
import { listSection, moreThan, type StoryParts } from './story-parts.ts'

const POINT_SECTIONS = ['decided', 'agreed', 'disputed', 'proposed', 'open'] as const
/** Facts, exceptions and challenges of one point. */
const BESIDE = 3

/** What is decided, agreed, disputed, proposed and open. */
export function pointSections(story: ThreadStory, parts: StoryParts): Html {
  return html`<div class="story-grid">
    ${POINT_SECTIONS.map((part) =>
      listSection<StoryPoint>(
        STORY_HEADINGS[part],
        openFirst(story[part].filter(isInList)),
        (point) => pointView(point, parts),
        story[part].every(isSettled) ? `${part} settled` : part,
      ),
    )}
  </div>`
}

/** Options have a table of their own. */
function isInList({ rule }: StoryPoint): boolean {
  return rule !== 'option_provided'
}

/** A dispute has no field that ends it. A later agreement of the same company makes it less urgent. */
function isSettled({ laterAgreement }: StoryPoint): boolean {
  return laterAgreement !== undefined
}

function openFirst(points: readonly StoryPoint[]): readonly StoryPoint[] {
  return points.toSorted((left, right) => Number(isSettled(left)) - Number(isSettled(right)))
}

/** A challenged point may be the id of a fact: its statement says more. */
function factNamedBy({ rule, text, facts }: StoryPoint): StoryFact | undefined {
  return rule === 'point_challenged' ? facts.find(({ factId }) => factId === text.text) : undefined
}

function pointView(point: StoryPoint, parts: StoryParts): Html {
  const { text, source, rule, about, exceptions = [], confirmedBy, laterAgreement, deadline } = point
  const who = parts.nameOf(source.by.organizationId)
  const named = factNamedBy(point)
  const body = html`${named ? parts.quote(named.statement, named.factId) : parts.quote(text)}
    <p class="said">
      ${ruleWords(rule, who, parts.recipientOf(source.packageId))} ${parts.cite(source)}
      ${deadline && html`<br /><strong>${deadlineWords(deadline)}</strong>`}
      ${about?.isRevoked && html`<br />${TEXTS.revokedAbout}`}
      ${
        exceptions.length > 0 &&
        html`<br />${TEXTS.exceptions}
          ${exceptions.slice(0, BESIDE).map((each) => html`${parts.quote(each)} `)}
          ${moreThan(BESIDE, exceptions)}`
      }
      ${confirmedBy !== undefined && html`<br />${confirmation(confirmedBy, parts)}`}
      ${laterAgreement && html`<br />${badge('good', TEXTS.settled)} ${TEXTS.laterAgreement} ${parts.cite(laterAgreement)}`}
    </p>
    ${factsBehind(point, named, parts)}`
  return isSettled(point) ? html`<div class="settled">${body}</div>` : body
}

function confirmation(confirmedBy: readonly string[], parts: StoryParts): Html {
  if (confirmedBy.length === 0) return html`${TEXTS.notConfirmed}`
  return html`${TEXTS.confirmedBy}
  ${confirmedBy.slice(0, SHOWN_ITEMS).map((id) => html`${parts.company(id)} `)}
  ${moreThan(SHOWN_ITEMS, confirmedBy)}`
}

/** The facts behind a point. Beside a challenge they are the other side's words. */
function factsBehind(
  { rule, text, facts }: StoryPoint,
  shown: StoryFact | undefined,
  parts: StoryParts,
): Html | undefined {
  const others = facts.filter((fact) => fact !== shown && fact.statement.text !== text.text)
  if (others.length === 0) return undefined
  const isChallenge = rule === 'point_challenged' || rule === 'fact_contradicted'
  return html`<p class="beside">
    ${!isChallenge && html`${TEXTS.restsOn} `}
    ${others
      .slice(0, BESIDE)
      .map(
        ({ factId, statement, source }) =>
          html`<span
            >${isChallenge && html`${parts.company(statement.by)} ${TEXTS.statedDifferently} `}
            ${parts.quote(statement, factId)} ${isChallenge && parts.cite(source)}</span
          >`,
      )}
    ${moreThan(BESIDE, others)}
  </p>`
}

/** The facts, each with the challenges that name it. */
export function factSection({ facts }: ThreadStory, parts: StoryParts): Html | undefined {
  return listSection(STORY_HEADINGS.facts, facts, (fact) => factView(fact, parts))
}

function factView({ factId, statement, source, challenges }: StoryFact, parts: StoryParts): Html {
  return html`${parts.quote(statement, factId)}
    <p class="said">
      ${parts.company(statement.by)} ${parts.cite(source)}
      ${challenges
        .slice(0, BESIDE)
        .map(
          ({ text, source: from }) =>
            html`<br />${TEXTS.challengedBy}
              ${parts.company(text.by)}${text.text !== factId && html`: ${parts.quote(text)}`}
              ${parts.cite(from)}`,
        )}
      ${challenges.length > BESIDE && html`<br />${moreThan(BESIDE, challenges)}`}
      ${
        !statement.isReaders &&
        parts.isAnswerable(source.packageId) &&
        html`<br />${challengeLink(source.packageId, factId)}`
      }
    </p>`
}
