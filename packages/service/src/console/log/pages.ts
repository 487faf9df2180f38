import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const logPages: readonly ConsolePage[] = [
  get('/log', async ({ show }) =>
    show({
      title: 'Transparency log',
      main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }),
    }),
  ),
]
