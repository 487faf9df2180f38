import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const operatorsPages: readonly ConsolePage[] = [
  get('/operators', async ({ show }) =>
    show({
      title: 'Operators',
      main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }),
    }),
  ),
]
