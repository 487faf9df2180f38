import type { ExchangeError } from '@agent-exchange/sdk'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { html, notice, page, type WebAssets } from '@agent-exchange/web'
import type { DeskAnswer, DeskSection } from './desk-call.ts'

type DeskPage = Extract<DeskAnswer, { kind: 'page' }>

/** The frame around every page, and the pages about failures. */
export interface DeskPages {
  text(content: DeskPage): string
  failure(status: number, title: string, text: string): DeskPage
  problem(error: ExchangeError): DeskPage
  signedOut(): DeskPage
  staleLink(): DeskPage
}

const NOT_FOUND: ReadonlySet<string> = new Set(['draft_missing', 'draft_sent'])

export function createDeskPages(options: {
  readonly agent: FolderAgent
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
    signedOut: () => ({
      kind: 'page',
      status: 401,
      title: 'Signed out',
      main: html`<p>
        Open the link that <code>aex agent desk</code> printed. Press Enter in its terminal for a new one.
      </p>`,
    }),
    staleLink: () => ({
      kind: 'page',
      status: 410,
      title: 'The link was used or is too old',
      main: html`<p>
        A link works once, for ten minutes. Press Enter in the terminal of <code>aex agent desk</code> for a
        new one. If you did not use the link yourself, somebody else did: stop the desk.
      </p>`,
    }),
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
