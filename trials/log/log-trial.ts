import type { TrialTools } from '../shared/run-trials.ts'
import type { Judges } from './go-judges.ts'

/** What each trial gets. */
export interface LogTrial extends TrialTools {
  readonly judges: Judges
}
