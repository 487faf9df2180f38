import type { TrialTools } from '../shared/trial-parts.ts'
import type { Judges } from './go-judges.ts'

/** What each trial gets. */
export interface LogTrial extends TrialTools {
  readonly judges: Judges
}
