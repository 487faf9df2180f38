import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const deliveriesPages: readonly ConsolePage[] = [
  get('/deliveries', async ({ show }) =>
    show({
      title: 'Deliveries',
      main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }),
    }),
  ),
]
