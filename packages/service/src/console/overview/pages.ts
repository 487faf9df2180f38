import { emptyState } from '@agent-exchange/web'
import { get, type ConsolePage } from '../console-page.ts'

export const overviewPages: readonly ConsolePage[] = [
  get('/', async ({ show }) =>
    show({
      title: 'Overview',
      main: emptyState({ title: 'Nothing here yet', text: 'Use the aex command.' }),
    }),
  ),
]
