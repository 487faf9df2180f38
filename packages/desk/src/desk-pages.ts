import type { ExchangeError } from '@agent-exchange/sdk'
import { html, notice, page, type WebAssets } from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'
import type { DeskAnswer, DeskSection } from './desk-call.ts'
import type { LinkFault } from './desk-sessions.ts'

type DeskPage = Extract<DeskAnswer, { kind: 'page' }>

/** The frame around every page, and the pages about failures. */
export interface DeskPages {
  text(content: DeskPage): string
  failure(status: number, title: string, text: string): DeskPage
  problem(error: ExchangeError): DeskPage
  /** A browser that has the cookie of a session was signed in before. */
  signedOut(hasCookie: boolean): DeskPage
  staleLink(fault: LinkFault): DeskPage
}

const NOT_FOUND: ReadonlySet<string> = new Set(['draft_missing'])

export function createDeskPages(options: {
  readonly agent: DeskAgent
  readonly assets: WebAssets
  readonly style: string
}): DeskPages {
  const { agent, assets, style } = options
  const { agentId, organizationId } = agent.identity

  function text({ title, main, flash = [], section, status }: DeskPage): string {
    const isSignedOut = status === 401 || status === 410
    const site = {
      name: 'Agent desk',
      language: 'en',
      home: '/',
      assetFolder: '/assets/',
      assets,
      navigation: isSignedOut
        ? []
        : NAVIGATION.map((item) => ({ ...item, isCurrent: item.section === section })),
      ...(!isSignedOut && { account: html`<bdi>${agentId}</bdi> of <bdi>${organizationId}</bdi>` }),
      footer: html`This page is served on this computer alone.`,
    }
    return String(page(site, { title, main, flash, styles: [style] }))
  }

  return {
    text,
    failure,
    problem: (error) =>
      failure(NOT_FOUND.has(error.code) ? 404 : 409, 'This did not work', `${error.message} (${error.code})`),
    signedOut: (hasCookie) =>
      hasCookie
        ? entrance(401, 'Your session has ended', 'It lasts eight hours, and ends with the desk.')
        : entrance(401, 'Signed out', 'Open the link that the desk printed in its terminal.'),
    staleLink: (fault) => entrance(410, ...LINK_FAULTS[fault]),
  }
}

const LINK_FAULTS: Readonly<Record<LinkFault, readonly [title: string, text: string]>> = {
  used: [
    'This link was used already',
    'A link signs in one browser, once. If you did not use it yourself, somebody else did: stop the desk.',
  ],
  expired: ['This link is too old', 'A link works for ten minutes.'],
  replaced: ['This link was replaced', 'The desk has made a newer link since, and only that one works.'],
  unknown: [
    'This link is not one of this desk',
    'It is incomplete, or an earlier run of the desk printed it. Copy the whole link that it printed last.',
  ],
}

/** For a browser that is not signed in. It learns nothing about the agent. */
function entrance(status: number, title: string, explanation: string): DeskPage {
  return {
    kind: 'page',
    status,
    title,
    main: html`<p>${explanation}</p>
      <p>For a new link, press Enter in the terminal of the desk.</p>
      <p>If the desk does not run any more, start it again, with the folder of the agent:</p>
      <p><code>aex agent desk --dir FOLDER</code></p>`,
  }
}

function failure(status: number, title: string, explanation: string): DeskPage {
  return {
    kind: 'page',
    status,
    title,
    main: notice({ tone: 'bad', title: 'Nothing was changed.', text: explanation }),
  }
}

const NAVIGATION: readonly { readonly href: string; readonly text: string; readonly section: DeskSection }[] =
  [
    { href: '/', text: 'Desk', section: 'overview' },
    { href: '/drafts', text: 'Drafts', section: 'drafts' },
  ]
