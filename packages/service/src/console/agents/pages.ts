import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const agentsPages: readonly ConsolePage[] = [
  get('/agents', async ({ show }) =>
    show({ title: 'Agents', main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }) }),
  ),
]
