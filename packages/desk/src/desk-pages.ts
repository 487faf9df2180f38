import type { ExchangeError } from '@agent-exchange/sdk'
import { notice, page, type WebAssets } from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'
import type { DeskPage } from './desk-call.ts'
import type { DeskHost } from './desk-host.ts'
import { CONVERSATION_TEXTS } from './texts/answer-texts.ts'
import { PAGE_TEXTS } from './texts/page-texts.ts'
import { SEARCH_TEXTS } from './texts/search-texts.ts'
import { TEXTS } from './texts/story-texts.ts'
import { CONTENT_ROLES, DESK_ROLES, hasOneOf, type DeskPerson, type DeskRoles } from './desk-person.ts'

/** Who is signed in, for the frame of a page. */
export interface FrameState {
  readonly person: DeskPerson
  readonly csrfToken: string
  readonly agent: DeskAgent | undefined
}

/** The frame around every page, and the pages about failures. */
export interface DeskPages {
  /** Without `frame` nobody is signed in, and the page says nothing about the agents. */
  text(content: DeskPage, frame?: FrameState): string
  failure(status: number, title: string, text: string): DeskPage
  notPermitted(roles: DeskRoles): DeskPage
  problem(error: ExchangeError): DeskPage
}

const NOT_FOUND: ReadonlySet<string> = new Set(['draft_missing'])

export function createDeskPages(options: {
  readonly host: Pick<DeskHost, 'account' | 'footer' | 'routes'>
  readonly assets: WebAssets
  readonly style: string
  readonly script: string
}): DeskPages {
  const { host, assets, style, script } = options
  const navigation = [
    ...NAVIGATION,
    ...host.routes.flatMap(({ path, roles, navigation: text }) =>
      text === undefined ? [] : [{ href: path, text, section: path, roles }],
    ),
  ]

  return {
    text({ title, main, flash = [], section, scripts = [] }, frame) {
      const site = {
        name: PAGE_TEXTS.site,
        language: 'en',
        home: '/',
        assetFolder: '/assets/',
        assets,
        navigation: navigation
          .filter(({ roles }) => frame && hasOneOf(frame.person, roles))
          .map((item) => ({ href: item.href, text: item.text, isCurrent: item.section === section })),
        ...(frame && { account: host.account(frame, frame.agent) }),
        footer: host.footer,
      }
      return String(page(site, { title, main, flash, styles: [style], scripts: [script, ...scripts] }))
    },
    failure,
    notPermitted: (roles) => failure(403, PAGE_TEXTS.notPermitted, PAGE_TEXTS.needsRole(roles.join(' or '))),
    problem: (error) =>
      failure(NOT_FOUND.has(error.code) ? 404 : 409, PAGE_TEXTS.failed, `${error.message} (${error.code})`),
  }
}

function failure(status: number, title: string, explanation: string): DeskPage {
  return {
    kind: 'page',
    status,
    title,
    main: notice({ tone: 'bad', title: PAGE_TEXTS.nothingChanged, text: explanation }),
  }
}

const NAVIGATION: readonly {
  readonly href: string
  readonly text: string
  readonly section: string
  readonly roles: DeskRoles
}[] = [
  { href: '/', text: TEXTS.desk, section: 'overview', roles: DESK_ROLES },
  { href: '/drafts', text: TEXTS.draftsTitle, section: 'drafts', roles: CONTENT_ROLES },
  { href: '/search', text: SEARCH_TEXTS.title, section: 'search', roles: CONTENT_ROLES },
  { href: '/new', text: CONVERSATION_TEXTS.title, section: 'new', roles: ['planner'] },
]
