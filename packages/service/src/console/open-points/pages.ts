import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const openPointsPages: readonly ConsolePage[] = [
  get('/open-points', async ({ show }) =>
    show({
      title: 'Open points',
      main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }),
    }),
  ),
]
