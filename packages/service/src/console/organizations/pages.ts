import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const organizationsPages: readonly ConsolePage[] = [
  get('/organizations', async ({ show }) =>
    show({
      title: 'Organizations',
      main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }),
    }),
  ),
]
