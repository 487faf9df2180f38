import type { SplitViewResult } from '@agent-exchange/log'
import { visible } from '../visible.ts'

/** The result for people. Its first line is the verdict, a sentence that can be quoted. */
export function renderSplitView({ sentence, key, heads }: SplitViewResult): string {
  const names = ['seen first', 'shown later']
  return [
    sentence,
    ...(heads.length === 0 ? [] : ['', 'Checkpoints:']),
    ...heads.map(({ size, root }, at) => `  - ${names[at]}: size ${size}, root ${root}`),
    ...(key === undefined
      ? []
      : ['', 'Key that signed both, to compare with the operator of the log:', `  - ${key}`]),
  ]
    .map(visible)
    .join('\n')
}
