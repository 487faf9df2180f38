import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const backupPages: readonly ConsolePage[] = [
  get('/backup', async ({ show }) =>
    show({ title: 'Backup', main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }) }),
  ),
]
