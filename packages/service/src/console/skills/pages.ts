import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const skillsPages: readonly ConsolePage[] = [
  get('/skills', async ({ show }) =>
    show({ title: 'Skills', main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }) }),
  ),
]
