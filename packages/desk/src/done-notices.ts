import type { Notice } from '@agent-exchange/web'

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
  person_added: { tone: 'good', title: 'The person was added.' },
  person_removed: { tone: 'info', title: 'The person was removed, and is signed out everywhere.' },
  session_ended: { tone: 'info', title: 'The session was ended.' },
  drafted: { tone: 'info', title: 'The answer is a draft. Read it, and approve it to send it.' },
} as const satisfies Readonly<Record<string, Notice>>
