import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const alertsPages: readonly ConsolePage[] = [
  get('/alerts', async ({ show }) =>
    show({ title: 'Alerts', main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }) }),
  ),
]
