import { titleWords } from '@agent-exchange/sdk/internal'
import { badge, filterForm, html, table, visible, type Field, type Html } from '@agent-exchange/web'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { SHOWN_RESULTS } from './desk-limits.ts'
import { SEARCH_TEXTS as T } from './texts/search-texts.ts'
import { TEXTS } from './texts/story-texts.ts'
import { SEARCH_STATES, searchThreads, type SearchQuery, type SearchResult } from './search-threads.ts'
import { ago } from './shown-times.ts'
import { shownText } from './story-parts.ts'

const MAXIMUM_CHARACTERS = 200
const DAY = /^\d{4}-\d\d-\d\d$/u

/** Conversations by company, person, state, deadline and text. */
export async function searchPage(call: DeskCall): Promise<DeskAnswer> {
  const query = queryOf(call.query)
  const isAsked = Object.values(query).some((value) => value !== undefined && value !== '')
  return {
    kind: 'page',
    title: T.title,
    section: 'search',
    main: html`${searchForm(query)}
    ${isAsked ? await results(call, await searchThreads(call, query)) : html`<p class="quiet">${T.how}</p>`}`,
  }
}

function queryOf(fields: URLSearchParams): SearchQuery {
  const text = (name: string) => (fields.get(name) ?? '').trim().slice(0, MAXIMUM_CHARACTERS)
  const state = SEARCH_STATES.find((each) => each === fields.get('state'))
  const dueBy = text('due_by')
  return {
    company: text('company'),
    person: text('person'),
    text: text('text'),
    ...(state && { state }),
    ...(DAY.test(dueBy) && { dueBy }),
  }
}

function searchForm({ company, person, state, dueBy = '', text }: SearchQuery): Html {
  const options = [
    { value: '', label: T.anyState },
    ...SEARCH_STATES.map((value) => ({ value, label: T.states[value] })),
  ]
  const fields: readonly Field[] = [
    { kind: 'search', name: 'text', label: T.text, value: text, maxLength: MAXIMUM_CHARACTERS },
    { kind: 'text', name: 'company', label: T.company, value: company, maxLength: MAXIMUM_CHARACTERS },
    { kind: 'text', name: 'person', label: T.person, value: person, maxLength: MAXIMUM_CHARACTERS },
    { kind: 'select', name: 'state', label: T.state, value: state ?? '', options },
    { kind: 'date', name: 'due_by', label: T.dueBy, value: dueBy },
  ]
  return filterForm({ id: 'search', action: '/search', fields, submitLabel: T.search })
}

async function results({ agent, now }: DeskCall, { found, searched }: SearchResult): Promise<Html> {
  const names = await agent.names()
  const nameOf = (id: string) => visible((Object.hasOwn(names, id) ? names[id] : undefined) ?? id)
  return html`<p class="quiet">${T.searched(searched.threads, searched.known, searched.packages)}</p>
    ${table({
      caption: T.results,
      hidesCaption: true,
      columns: [{ title: T.about }, { title: T.with }, { title: T.state }, { title: T.last }],
      rows: found
        .slice(0, SHOWN_RESULTS)
        .map(({ summary, story }) => [
          html`<a href="${pathTo('threads', summary.threadId)}"
            ><bdi>${shownText(titleWords(story.title))}</bdi></a
          >`,
          story.companies
            .filter(({ isReader }) => !isReader)
            .map(({ organizationId }) => html`<bdi>${nameOf(organizationId)}</bdi> `),
          [
            story.due.some(({ isReaders }) => isReaders) && badge('warn', T.states.due_from_us),
            story.disputed.length > 0 && badge('bad', T.states.disputed),
            story.decided.length > 0 && badge('good', T.states.decided),
          ],
          ago(summary.last.occurred_at, now),
        ]),
      empty: { title: T.nothing, text: T.nothingText },
    })}
    ${found.length > SHOWN_RESULTS && html`<p class="quiet">${found.length - SHOWN_RESULTS} ${TEXTS.more}</p>`}`
}
