import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const keysPages: readonly ConsolePage[] = [
  get('/keys', async ({ show }) =>
    show({ title: 'Keys', main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }) }),
  ),
]
