import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const invitationsPages: readonly ConsolePage[] = [
  get('/invitations', async ({ show }) =>
    show({
      title: 'Invitations',
      main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }),
    }),
  ),
]
