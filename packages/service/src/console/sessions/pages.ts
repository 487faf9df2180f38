import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const sessionsPages: readonly ConsolePage[] = [
  get('/sessions', async ({ show }) =>
    show({
      title: 'Sessions',
      main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }),
    }),
  ),
]
