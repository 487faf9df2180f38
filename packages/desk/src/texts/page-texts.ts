import type { Notice } from '@agent-exchange/web'
import type { DeskPlace } from '../desk-agent.ts'

/** The frame of every page, and pages about failures. */
export const PAGE_TEXTS = {
  site: 'Agent desk',
  notPermitted: 'Not permitted',
  needsRole: (roles: string) => `This needs the role ${roles}. Ask an administrator.`,
  failed: 'This did not work',
  nothingChanged: 'Nothing was changed.',
} as const

/** What differs between the folder of a developer and the gateway of a company. */
export const PLACE_TEXTS = {
  folder: {
    rotate: 'Make a new key with “aex agent keys rotate”.',
    resume: 'The agent sends them again when it runs “aex agent resume”.',
    reasons: 'Names and reasons never leave this folder.',
    discard: 'The draft is removed from the folder, with its decision.',
    deletes: 'This folder deletes its copy on',
  },
  gateway: {
    rotate: 'Ask an administrator of the gateway for a new key.',
    resume: 'The gateway sends them again by itself.',
    reasons: 'Names and reasons never leave your company.',
    deletes: 'This gateway deletes its copy on',
    discard: 'The draft is removed from the gateway. Decisions about it stay in its records.',
  },
} as const satisfies Record<DeskPlace, object>

/** The desk of a folder, for a browser that is not signed in. */
export const FOLDER_TEXTS = {
  person: 'the person at this computer',
  footer: 'This page is served on this computer alone.',
  noAgent: ['No agent', 'The folder has no agent.'],
  sessionEnded: ['Your session has ended', 'It lasts eight hours, and ends with the desk.'],
  signedOut: ['Signed out', 'Open the link that the desk printed in its terminal.'],
  linkFaults: {
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
  },
  newLink: 'For a new link, press Enter in the terminal of the desk.',
  startAgain: 'If the desk does not run any more, start it again, with the folder of the agent:',
} as const

/** What the last change led to. The address carries the code, never a text. */
export const DONE = {
  opened: { tone: 'good', title: 'The package is open. Signed receipts were sent.' },
  revoked: { tone: 'good', title: 'The package is revoked.' },
  approved: { tone: 'good', title: 'Approved. The draft can be sent now, by you or by the agent.' },
  approval_recorded: {
    tone: 'good',
    title: 'Your approval is recorded. The page says whether the draft needs more.',
  },
  passkey_added: {
    tone: 'good',
    title: 'The passkey is registered. It counts for drafts that are made from now on.',
  },
  passkey_removed: {
    tone: 'info',
    title: 'The passkey is removed. Approvals that it gave for drafts that are not sent yet are void.',
  },
  declined: { tone: 'warn', title: 'Declined. The draft will not be sent.' },
  sent: { tone: 'good', title: 'Sent. The exchange accepted the package.' },
  discarded: { tone: 'info', title: 'The draft is discarded.' },
  agent_chosen: { tone: 'info', title: 'You see another agent now.' },
  roles_changed: { tone: 'good', title: 'The roles were changed. They hold at the next page of the person.' },
  person_removed: { tone: 'info', title: 'The person was removed, and is signed out everywhere.' },
  delegation_added: { tone: 'good', title: 'The person approves in your place until that day.' },
  delegation_ended: { tone: 'info', title: 'The delegation has ended.' },
  session_ended: { tone: 'info', title: 'The session was ended.' },
  drafted: { tone: 'info', title: 'The answer is a draft. Read it, and approve it to send it.' },
} as const satisfies Readonly<Record<string, Notice>>
