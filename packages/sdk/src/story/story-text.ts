import { visibleText } from '@agent-exchange/log'
import { createStoryLines, type StoryLines, type StoryTextOptions } from './story-lines.ts'
import { entryLines, versionLines } from './story-text-history.ts'
import {
  modelUseWords,
  NEWER_UNREAD,
  NO_PHASE,
  phaseWords,
  SHOWN_WORDS,
  STORY_HEADINGS,
  titleWords,
} from './story-words.ts'
import type {
  ComparedItem,
  DueAnswer,
  Handling,
  StoryCompany,
  StoryFact,
  StoryPoint,
  ThreadStory,
} from './story-types.ts'

/** A story as plain text of at most 80 columns. Texts of companies are in quotation marks. */
export function storyText(story: ThreadStory, options: StoryTextOptions = {}): string {
  const lines = createStoryLines(story, options)
  const { section } = lines
  const companies = story.companies.map((company) => companyWords(company, lines)).join(' and ')
  const { olderPackages, hasNewerPackages } = story
  return [
    ...lines.wrap(visibleText(titleWords(story.title)), ''),
    ...lines.wrap(`Between ${companies}.`, ''),
    ...(hasNewerPackages ? lines.wrap(NEWER_UNREAD, '') : []),
    ...section(STORY_HEADINGS.standing, standingWords(story, lines), (words) => lines.item(words)),
    ...section(STORY_HEADINGS.due, story.due, (due) => dueLines(due, lines)),
    ...(['decided', 'agreed', 'disputed', 'proposed', 'open'] as const).flatMap((part) =>
      section<StoryPoint>(STORY_HEADINGS[part], story[part], (point) => pointLines(point, lines)),
    ),
    ...(['options', 'constraints'] as const).flatMap((part) =>
      section(STORY_HEADINGS[part], story[part], (item) => itemLines(item, lines)),
    ),
    ...section(STORY_HEADINGS.facts, story.facts, (fact) => factLines(fact, lines)),
    ...section(STORY_HEADINGS.confidence, story.confidence, ({ score, basis, source }) =>
      lines.item(
        `${Math.round(score * 100)}%: ${lines.quote(basis)}`,
        `${lines.name(basis.by)}, ${lines.cite(source)}`,
      ),
    ),
    ...section(STORY_HEADINGS.notDisclosed, story.notDisclosed, ({ organizationId, items }) =>
      lines.item(`${lines.name(organizationId)}: ${lines.list(items.map(({ text }) => text))}`),
    ),
    ...section(STORY_HEADINGS.versions, story.versions, (version) => versionLines(version, lines)),
    ...section(STORY_HEADINGS.handling, story.handling, (handling) => handlingLines(handling, lines)),
    ...section(STORY_HEADINGS.conversation, story.conversation, (entry) => entryLines(entry, lines)),
    ...(olderPackages > 0 ? lines.item(`${olderPackages} older packages are not in this story`) : []),
    '',
  ].join('\n')
}

function companyWords({ organizationId, roles }: StoryCompany, lines: StoryLines): string {
  const name = lines.name(organizationId)
  // A name of the reader's own never replaces the id.
  const details = [...(name === organizationId ? [] : [organizationId]), ...roles.map(({ text }) => text)]
  return details.length === 0 ? name : `${name} (${lines.list(details)})`
}

function standingWords({ standing }: ThreadStory, lines: StoryLines): readonly string[] {
  const stated = standing.stated.map(({ phase, next, source }) => {
    const who = lines.name(source.by.organizationId)
    return `${phaseWords(who, phase, next.map(visibleText))}, ${lines.cite(source)}`
  })
  const shown = standing.shown ? [SHOWN_WORDS[standing.shown]] : []
  return [...(stated.length > 0 ? stated : [NO_PHASE]), ...shown]
}

function dueLines({ owedBy, request, deadline, source }: DueAnswer, lines: StoryLines): string[] {
  return lines.item(
    `${lines.name(owedBy)}: ${lines.quote(request)}`,
    `due ${lines.time(deadline.at)}, ${lines.deadline(deadline)}`,
    lines.cite(source),
  )
}

function pointLines(point: StoryPoint, lines: StoryLines): string[] {
  const { text, facts, exceptions = [], confirmedBy, laterAgreement, deadline, about, source } = point
  return lines.item(
    lines.quote(text),
    `${lines.sentence(point)}, ${lines.cite(source)}`,
    ...(about?.isRevoked ? ['the package that it answers was revoked'] : []),
    ...lines.some(exceptions, (exception) => `except ${lines.quote(exception)}`),
    ...(deadline ? [`due ${lines.time(deadline.at)}, ${lines.deadline(deadline)}`] : []),
    ...(confirmedBy === undefined ? [] : [confirmedWords(confirmedBy, lines)]),
    ...(laterAgreement
      ? [`${lines.name(laterAgreement.by.organizationId)} agreed later: ${lines.cite(laterAgreement)}`]
      : []),
    ...factsWords(point.rule, facts, lines),
  )
}

/** What is disputed is quoted; elsewhere the ids lead to the list of facts. */
function factsWords(rule: StoryPoint['rule'], facts: readonly StoryFact[], lines: StoryLines): string[] {
  if (facts.length === 0) return []
  if (rule !== 'point_challenged' && rule !== 'fact_contradicted')
    return [`facts: ${lines.list(facts.map(({ factId }) => factId))}`]
  return lines.some(facts, ({ statement }) => `${lines.name(statement.by)} states ${lines.quote(statement)}`)
}

function confirmedWords(confirmedBy: readonly string[], lines: StoryLines): string {
  return confirmedBy.length === 0
    ? 'no other company has confirmed it'
    : `confirmed by ${lines.list(confirmedBy.map(lines.name))}`
}

function itemLines({ members, source }: ComparedItem, lines: StoryLines): string[] {
  return lines.item(
    ...members.map(({ name, text }) => `${lines.label(name)}: ${visibleText(text.text)}`),
    `${lines.name(source.by.organizationId)}, ${lines.cite(source)}`,
  )
}

function factLines(fact: StoryFact, lines: StoryLines): string[] {
  const { factId, statement, source, challenges, evidenceRefs, sensitivity } = fact
  const evidence = `evidence ${lines.list(evidenceRefs)}`
  return lines.item(
    `${visibleText(factId)}: ${lines.quote(statement)}`,
    `${lines.name(statement.by)}, ${lines.cite(source)}; ${evidence}${sensitivity === undefined ? '' : `; ${visibleText(sensitivity)}`}`,
    ...lines.some(
      challenges,
      ({ text, source: from }) =>
        `challenged by ${lines.name(text.by)}: ${lines.quote(text)}, ${lines.cite(from)}`,
    ),
  )
}

function handlingLines(handling: Handling, lines: StoryLines): string[] {
  const { source, retentionDays, forwardingAllowed, keepUntil, disclosureLevel, modelUse } = handling
  const until = keepUntil === undefined ? '' : ` (on ${keepUntil} at the earliest)`
  return lines.item(
    `${lines.name(source.by.organizationId)} asks to delete ${lines.cite(source)} ${retentionDays} days after opening it${until}; forwarding ${forwardingAllowed ? 'allowed' : 'not allowed'}; disclosure level ${lines.quote(disclosureLevel)}${modelUse ? `; ${modelUseWords(modelUse)}` : ''}`,
  )
}
