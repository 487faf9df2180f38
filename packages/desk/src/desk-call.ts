import type { Html, Notice } from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'
import type { StoryReader } from './story-reader.ts'
import type { PassphraseTries } from './passphrase-tries.ts'

/** A request of a signed-in browser, with what its handler needs. */
export interface DeskCall {
  readonly agent: DeskAgent
  /** The id in the address. */
  readonly id: string
  /** Fields of a form; empty for a GET. */
  readonly fields: URLSearchParams
  readonly csrfToken: string
  readonly now: Date
  readonly tries: PassphraseTries
  readonly stories: StoryReader
}

export type DeskSection = 'overview' | 'drafts'

export type DeskAnswer =
  | {
      readonly kind: 'page'
      readonly title: string
      readonly main: Html
      readonly status?: number
      readonly section?: DeskSection
      readonly flash?: readonly Notice[]
    }
  /** After a change: the page at the address shows the notice. */
  | { readonly kind: 'redirect'; readonly to: string; readonly done?: DoneCode }
  | { readonly kind: 'file'; readonly name: string; readonly mediaType: string; readonly body: string }

/** What the last change led to. The address carries the code, never a text. */
export const DONE = {
  opened: { tone: 'good', title: 'The package is open. Signed receipts were sent.' },
  revoked: { tone: 'good', title: 'The package is revoked.' },
  approved: { tone: 'good', title: 'Approved. The draft can be sent now, by you or by the agent.' },
  declined: { tone: 'warn', title: 'Declined. The draft will not be sent.' },
  sent: { tone: 'good', title: 'Sent. The exchange accepted the package.' },
  discarded: { tone: 'info', title: 'The draft is discarded.' },
  drafted: { tone: 'info', title: 'The answer is a draft. Read it, and approve it to send it.' },
} as const satisfies Readonly<Record<string, Notice>>

export type DoneCode = keyof typeof DONE

/** One path segment of an address. */
export function pathTo(
  folder: 'threads' | 'packages' | 'drafts' | 'evidence',
  id: string,
  rest = '',
): string {
  return `/${folder}/${encodeURIComponent(id)}${rest}`
}
