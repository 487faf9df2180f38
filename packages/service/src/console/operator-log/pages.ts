import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const operatorLogPages: readonly ConsolePage[] = [
  get('/operator-log', async ({ show }) =>
    show({
      title: 'Operator log',
      main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }),
    }),
  ),
]
