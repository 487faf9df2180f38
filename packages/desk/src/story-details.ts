import type { ComparedItem, Handling, StoryVersion, ThreadStory } from '@agent-exchange/sdk'
import {
  CHANGE_WORDS,
  labelOf,
  modelUseWords,
  PART_WORDS,
  STORY_HEADINGS,
  STORY_STATUS_WORDS,
} from '@agent-exchange/sdk/internal'
import { badge, html, table, visible, type Html } from '@agent-exchange/web'
import { acceptLink } from './answer-links.ts'
import { OPTION_ID, optionId } from './answer-tasks.ts'
import { SHOWN_ITEMS } from './desk-limits.ts'
import { TEXTS } from './texts/story-texts.ts'
import { below, listSection, moreThan, shownText, type StoryParts } from './story-parts.ts'

/** Columns of a comparison; other members are on the page of the package. */
const MAXIMUM_COLUMNS = 6
const PERCENT = 100

/** Options or constraints side by side. */
export function comparison(
  part: 'options' | 'constraints',
  story: ThreadStory,
  parts: StoryParts,
): Html | undefined {
  const items = story[part].slice(0, SHOWN_ITEMS)
  if (items.length === 0) return undefined
  const names = [...new Set(items.flatMap(({ members }) => members.map(({ name }) => name)))]
  const named = names.filter((name) => name !== OPTION_ID)
  const columns = named.slice(0, MAXIMUM_COLUMNS)
  return html`<section class="story-part">
    <h2>${STORY_HEADINGS[part]}</h2>
    ${table({
      caption: STORY_HEADINGS[part],
      hidesCaption: true,
      columns: [...columns.map((name) => ({ title: labelOf(visible(name)) })), { title: TEXTS.from }],
      rows: items.map((item) => [...columns.map((name) => cell(item, name)), from(item, parts)]),
    })}
    ${below(moreThan(SHOWN_ITEMS, story[part]))}
    ${named.length > columns.length && html`<p class="quiet">${TEXTS.moreColumns(named.length - columns.length)}</p>`}
  </section>`
}

function cell({ members }: ComparedItem, name: string): Html {
  const text = members.find((member) => member.name === name)?.text.text
  return html`<bdi>${text === undefined ? '' : shownText(text)}</bdi>`
}

function from(item: ComparedItem, parts: StoryParts): Html {
  const { source } = item
  const id = parts.isAnswerable(source.packageId) ? optionId(item) : undefined
  return html`${parts.company(source.by.organizationId)} ${parts.cite(source)}
  ${id !== undefined && html`<br />${acceptLink(source.packageId, id)}`}`
}

export function confidenceSection({ confidence }: ThreadStory, parts: StoryParts): Html | undefined {
  return listSection(STORY_HEADINGS.confidence, confidence, ({ score, basis, source }) => {
    const percent = `${Math.round(score * PERCENT)}%`
    return html`<meter min="0" max="1" value="${String(score)}" aria-label="${percent}"></meter> ${percent}
      ${parts.quote(basis)}
      <p class="said">${parts.company(basis.by)} ${parts.cite(source)}</p>`
  })
}

export function undisclosedSection({ notDisclosed }: ThreadStory, parts: StoryParts): Html | undefined {
  return listSection(
    STORY_HEADINGS.notDisclosed,
    notDisclosed,
    ({ organizationId, items }) =>
      html`${parts.company(organizationId)}:
      ${items.slice(0, SHOWN_ITEMS).map((item) => html`${parts.quote(item)} `)}
      ${moreThan(SHOWN_ITEMS, items)}`,
  )
}

export function versionSection({ versions }: ThreadStory, parts: StoryParts): Html | undefined {
  return listSection(STORY_HEADINGS.versions, versions, (version) => versionView(version, parts))
}

function versionView(found: StoryVersion, parts: StoryParts): Html {
  const { version, status, summary, source, isCurrent, changes } = found
  return html`${badge(isCurrent ? 'good' : 'neutral', `${version}, ${STORY_STATUS_WORDS[status]}`)}
    ${parts.quote(summary)}
    <p class="said">
      ${parts.company(source.by.organizationId)} ${parts.cite(source)}
      ${changes
        .slice(0, SHOWN_ITEMS)
        .map(
          ({ kind, part, text }) =>
            html`<br />${CHANGE_WORDS[kind]}: ${PART_WORDS[part]} ${parts.quote(text)}`,
        )}
      ${changes.length > SHOWN_ITEMS && html`<br />${moreThan(SHOWN_ITEMS, changes)}`}
    </p>`
}

export function handlingSection({ handling }: ThreadStory, parts: StoryParts): Html | undefined {
  return listSection(STORY_HEADINGS.handling, handling, (each) => handlingView(each, parts))
}

function handlingView(handling: Handling, parts: StoryParts): Html {
  const { source, retentionDays, forwardingAllowed, keepUntil, disclosureLevel, modelUse } = handling
  return html`${parts.company(source.by.organizationId)}
  ${TEXTS.retention(retentionDays)}${
    keepUntil !== undefined && html`, ${TEXTS.earliest} <time datetime="${keepUntil}">${keepUntil}</time>`
  };
  ${forwardingAllowed ? TEXTS.forwardingAllowed : TEXTS.forwardingNotAllowed}; ${TEXTS.disclosureLevel}
  ${parts.quote(disclosureLevel)}${modelUse && html`; ${modelUseWords(modelUse)}`} ${parts.cite(source)}`
}
