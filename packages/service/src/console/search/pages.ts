import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const searchPages: readonly ConsolePage[] = [
  get('/search', async ({ show }) =>
    show({ title: 'Search', main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }) }),
  ),
]
