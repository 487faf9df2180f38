import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const settingsPages: readonly ConsolePage[] = [
  get('/settings', async ({ show }) =>
    show({
      title: 'Settings',
      main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }),
    }),
  ),
]
