import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const endpointsPages: readonly ConsolePage[] = [
  get('/endpoints', async ({ show }) =>
    show({
      title: 'Endpoints',
      main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }),
    }),
  ),
]
